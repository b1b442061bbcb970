// A graph of boxes in levels, as SVG.
#pragma once

#include <string>
#include <vector>

namespace atb {

struct PictureBox {
  std::string title;
  std::vector<std::string> lines;  ///< below the title
  int colour = -1;                 ///< class "cN"; -1: none
  size_t detail = 0;               ///< attribute data-detail: what a click shows
  std::vector<size_t> sources;     ///< boxes before this one that an edge comes from
};

/// Boxes from top to bottom, each below its sources. All texts are escaped here.
std::string to_svg(const std::vector<PictureBox>& boxes);

}  // namespace atb
