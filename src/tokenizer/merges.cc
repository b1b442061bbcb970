#include "tokenizer/merges.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace atb {
namespace {

constexpr uint64_t kFree = ~uint64_t{0};  ///< no pair of ids >= 0 has this key

uint64_t key_of(TokenId left, TokenId right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

}  // namespace

MergeTable::MergeTable(size_t count)
    : shift_(64 - std::bit_width(std::bit_ceil(2 * count + 2) - 1)),
      slots_(std::bit_ceil(2 * count + 2), Slot{kFree, {}}) {}

size_t MergeTable::find_slot(uint64_t pair) const {
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio: Fibonacci hashing (Knuth, TAOCP 6.4)
  const size_t mask = slots_.size() - 1;
  size_t at = ((pair ^ (pair >> 29)) * kGolden) >> shift_;
  while (slots_[at].pair != kFree && slots_[at].pair != pair) at = (at + 1) & mask;
  return at;
}

void MergeTable::add(TokenId left, TokenId right, TokenId result) {
  ATB_CHECK(2 * added_ < slots_.size() && left >= 0 && right >= 0 && result >= 0);
  const uint64_t pair = key_of(left, right);
  slots_[find_slot(pair)] = {pair, {added_++, result}};
}

const MergeTable::Merge* MergeTable::find(TokenId left, TokenId right) const {
  const Slot& slot = slots_[find_slot(key_of(left, right))];
  return slot.pair == kFree ? nullptr : &slot.merge;
}

void Merger::merge(std::vector<TokenId>& tokens) {
  if (tokens.size() < 2) return;
  link(tokens);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end());
    const Candidate candidate = heap_.back();
    heap_.pop_back();
    apply(candidate);
  }
  tokens.clear();
  for (int32_t at = 0; at >= 0; at = symbols_[at].next) tokens.push_back(symbols_[at].id);
}

void Merger::link(const std::vector<TokenId>& tokens) {
  const auto count = static_cast<int32_t>(tokens.size());
  symbols_.clear();
  heap_.clear();
  for (int32_t i = 0; i < count; ++i) symbols_.push_back({tokens[i], i - 1, i + 1 < count ? i + 1 : -1});
  for (int32_t i = 0; i < count; ++i) consider(i);
}

void Merger::consider(int32_t left) {
  if (left < 0 || symbols_[left].next < 0) return;
  const MergeTable::Merge* merge = table_.find(symbols_[left].id, symbols_[symbols_[left].next].id);
  if (!merge) return;
  heap_.push_back({merge->rank, left, merge->result});
  std::push_heap(heap_.begin(), heap_.end());
}

void Merger::apply(const Candidate& candidate) {
  Symbol& left = symbols_[candidate.position];
  if (left.id < 0 || left.next < 0) return;
  // A candidate is stale when one of its two symbols has merged since; what the pair gives now decides.
  const MergeTable::Merge* merge = table_.find(left.id, symbols_[left.next].id);
  if (!merge || merge->result != candidate.result) return;
  Symbol& right = symbols_[left.next];
  left.id = candidate.result;
  left.next = right.next;
  right.id = -1;
  if (left.next >= 0) symbols_[left.next].previous = candidate.position;
  consider(left.previous);
  consider(candidate.position);
}

}  // namespace atb
