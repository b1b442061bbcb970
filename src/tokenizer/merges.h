// Byte-pair merges: which two neighbouring tokens become one, and in which order (Sennrich et al. 2016).
#pragma once

#include <cstdint>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace atb {

class MergeTable {
 public:
  struct Merge {
    uint32_t rank;  ///< lower ranks merge first
    TokenId result;
  };

  /// Room for `count` merges.
  explicit MergeTable(size_t count);

  /// The next merge in rank; of two merges of the same pair the later counts. At most the promised count.
  void add(TokenId left, TokenId right, TokenId result);
  /// nullptr if the pair does not merge.
  const Merge* find(TokenId left, TokenId right) const;

 private:
  struct Slot {
    uint64_t pair;
    Merge merge;
  };
  size_t find_slot(uint64_t pair) const;

  int shift_;                ///< the top bits of the hash choose the slot
  uint32_t added_ = 0;       ///< merges so far: the next rank
  std::vector<Slot> slots_;  ///< open addressing, at most half full
};

/// Merges a sequence of tokens until no pair merges any more: always the pair of lowest rank, the leftmost of several.
/// O(n log n). Keeps its buffers from call to call; one per thread.
class Merger {
 public:
  explicit Merger(const MergeTable& table) : table_(table) {}
  /// `tokens` is replaced by the result.
  void merge(std::vector<TokenId>& tokens);

 private:
  struct Symbol {
    TokenId id;  ///< -1: merged into the one before
    int32_t previous, next;
  };
  struct Candidate {
    uint32_t rank;
    int32_t position;
    TokenId result;
    bool operator<(const Candidate& o) const { return rank != o.rank ? rank > o.rank : position > o.position; }
  };
  void link(const std::vector<TokenId>& tokens);
  void consider(int32_t left);
  void apply(const Candidate& candidate);

  const MergeTable& table_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

}  // namespace atb
