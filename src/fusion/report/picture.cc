#include "fusion/report/picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "fusion/report/escape.h"

namespace atb {
namespace {

// Pixels.
constexpr int kCharWidth = 7, kLineHeight = 16, kPadding = 8, kColumnGap = 18, kRowGap = 26, kMaxChars = 44;
// An edge over several levels goes around the boxes between.
constexpr int kBow = 40, kBowPerLevel = 12;

/// Cut in the middle, where names of one model differ least. Never inside a UTF-8 character.
std::string shortened(const std::string& text) {
  if (text.size() <= kMaxChars) return text;
  const auto continues = [&](size_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80; };
  size_t head = kMaxChars / 2, tail = text.size() - kMaxChars / 2;
  while (head > 0 && continues(head)) --head;
  while (tail < text.size() && continues(tail)) ++tail;
  return text.substr(0, head) + "\xE2\x80\xA6" + text.substr(tail);
}

struct Placed {
  int level = 0, x = 0, y = 0, width = 0, height = 0;
};

class Layout {
 public:
  explicit Layout(const std::vector<PictureBox>& boxes) : boxes_(boxes), placed_(boxes.size()) {
    for (size_t i = 0; i < boxes.size(); ++i) measure(i);
    place();
  }

  std::string svg() const {
    std::string text =
        fmt::format("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">", width_, height_);
    for (size_t i = 0; i < boxes_.size(); ++i)
      for (const size_t source : boxes_[i].sources) text += edge(placed_[source], placed_[i]);
    for (size_t i = 0; i < boxes_.size(); ++i) text += box(i);
    return text + "</svg>\n";
  }

 private:
  void measure(size_t i) {
    const PictureBox& box = boxes_[i];
    size_t longest = shortened(box.title).size();
    for (const std::string& line : box.lines) longest = std::max(longest, shortened(line).size());
    placed_[i].width = static_cast<int>(longest) * kCharWidth + 2 * kPadding;
    placed_[i].height = static_cast<int>(1 + box.lines.size()) * kLineHeight + kPadding;
    for (const size_t source : box.sources) placed_[i].level = std::max(placed_[i].level, placed_[source].level + 1);
  }

  void place() {
    std::vector<std::vector<size_t>> levels;
    for (size_t i = 0; i < placed_.size(); ++i) {
      levels.resize(std::max(levels.size(), static_cast<size_t>(placed_[i].level) + 1));
      levels[static_cast<size_t>(placed_[i].level)].push_back(i);
    }
    for (const auto& level : levels) width_ = std::max(width_, level_width(level));
    height_ = kPadding;
    for (const auto& level : levels) place_level(level);
  }

  int level_width(const std::vector<size_t>& level) const {
    int width = kColumnGap;
    for (const size_t i : level) width += placed_[i].width + kColumnGap;
    return width;
  }

  void place_level(const std::vector<size_t>& level) {
    int x = (width_ - level_width(level)) / 2 + kColumnGap, tallest = 0;
    for (const size_t i : level) {
      placed_[i].x = x;
      placed_[i].y = height_;
      x += placed_[i].width + kColumnGap;
      tallest = std::max(tallest, placed_[i].height);
    }
    height_ += tallest + kRowGap;
  }

  static std::string edge(const Placed& from, const Placed& to) {
    const int x1 = from.x + from.width / 2, y1 = from.y + from.height, x2 = to.x + to.width / 2, y2 = to.y;
    const int bend = (y2 - y1) / 2;
    const int levels = to.level - from.level, bow = levels > 1 ? kBow + levels * kBowPerLevel : 0;
    return fmt::format("<path d=\"M{} {} C{} {} {} {} {} {}\"/>", x1, y1, x1 - bow, y1 + bend, x2 - bow, y2 - bend, x2,
                       y2);
  }

  std::string box(size_t i) const {
    const PictureBox& box = boxes_[i];
    const Placed& at = placed_[i];
    std::string text = fmt::format(
        "<g class=\"box{}\" data-detail=\"{}\" tabindex=\"0\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
        "rx=\"5\"/>",
        box.colour < 0 ? std::string() : fmt::format(" c{}", box.colour), box.detail, at.x, at.y, at.width, at.height);
    text += label(at, 0, box.title, " class=\"title\"");
    for (size_t line = 0; line < box.lines.size(); ++line)
      text += label(at, static_cast<int>(line) + 1, box.lines[line], "");
    return text + "</g>";
  }

  static std::string label(const Placed& at, int line, const std::string& text, const char* attributes) {
    return fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>", at.x + kPadding, at.y + (line + 1) * kLineHeight,
                       attributes, for_html(shortened(text)));
  }

  const std::vector<PictureBox>& boxes_;
  std::vector<Placed> placed_;
  int width_ = 0, height_ = 0;
};

}  // namespace

std::string to_svg(const std::vector<PictureBox>& boxes) { return Layout(boxes).svg(); }

}  // namespace atb
