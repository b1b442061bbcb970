#include "tokenizer/pre_tokenizer.h"

namespace atb {
namespace {

using Pieces = std::vector<std::string_view>;

void cut(std::string_view piece, const SplitStep& step, std::vector<Pattern::Range>& matches, Pieces& out) {
  const auto keep = [&](size_t begin, size_t end, SplitStep::Drop dropped) {
    if (begin < end && step.drop != dropped) out.push_back(piece.substr(begin, end - begin));
  };
  matches.clear();
  step.pattern.find_all(piece, matches);
  size_t done = 0;
  for (const Pattern::Range& match : matches) {
    keep(done, match.begin, SplitStep::Drop::kGaps);
    keep(match.begin, match.end, SplitStep::Drop::kMatches);
    done = match.end;
  }
  keep(done, piece.size(), SplitStep::Drop::kGaps);
}

std::string_view with_space(std::string_view piece, std::deque<std::string>& added) {
  return piece.starts_with(' ') ? piece : added.emplace_back(" " + std::string(piece));
}

}  // namespace

Pieces PreTokenizer::split(std::string_view text, std::deque<std::string>& added) const {
  Pieces pieces{text}, next;
  std::vector<Pattern::Range> matches;
  for (const SplitStep& step : steps_) {
    next.clear();
    for (std::string_view piece : pieces)
      cut(step.prefix_space ? with_space(piece, added) : piece, step, matches, next);
    pieces.swap(next);
  }
  return pieces;
}

}  // namespace atb
