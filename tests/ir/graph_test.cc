#include <atb/error.h>
#include <atb/graph.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace atb {
namespace {

using testing::ElementsAre;

TEST(Graph, TheSameParamTwiceIsOneValue) {
  Graph g;
  EXPECT_EQ(g.param("w", DType::kF32, {2}), g.param("w", DType::kF32, {2}));
  EXPECT_THROW(g.param("w", DType::kF32, {3}), Error);
  EXPECT_THROW(g.input("w", DType::kF32, {2}), Error);
}

TEST(Graph, NamesComeFromPathsAndStayUnique) {
  Graph g;
  const ValueId x = g.input("x/1", DType::kF32, {2});
  const ValueId a = add(g, x, x, "mlp.add"), b = add(g, x, a, "mlp.add"), c = g.add(Op::kAdd, NoAttrs{}, {a, b});
  EXPECT_EQ(g.value(x).name, "x_1");
  EXPECT_EQ(g.value(a).name, "mlp.add");
  EXPECT_NE(g.value(b).name, "mlp.add");
  EXPECT_EQ(g.value(c).name, "add");
  g.verify();
}

TEST(Graph, UsersAndOutputs) {
  Graph g;
  const ValueId x = g.input("x", DType::kF32, {2});
  const ValueId y = add(g, x, x, "y");
  g.output("y", y);
  EXPECT_THAT(g.users()[static_cast<size_t>(x)], ElementsAre(0, 0));
  EXPECT_TRUE(g.is_output(y));
  EXPECT_FALSE(g.is_output(x));
  EXPECT_THROW(g.output("y", x), Error);
  EXPECT_EQ(g.find_tensor("x"), x);
  EXPECT_EQ(g.find_value("nothing"), std::nullopt);
}

TEST(OpTable, FindsEveryNameAndItsDefaults) {
  for (int i = 0; i < op_count(); ++i) {
    const OpInfo& info = op_info(static_cast<Op>(i));
    EXPECT_EQ(find_op(info.name), &info);
    EXPECT_EQ(default_attrs(info.op), default_attrs(info.op));
  }
  EXPECT_EQ(find_op("no_such_op"), nullptr);
}

TEST(Attrs, CompareAndHashByEveryField) {
  const Attrs a = RopeAttrs{.head_dim = 64}, b = RopeAttrs{.head_dim = 64, .factor = 2};
  EXPECT_EQ(a, Attrs(RopeAttrs{.head_dim = 64}));
  EXPECT_EQ(hash_of(a), hash_of(Attrs(RopeAttrs{.head_dim = 64})));
  EXPECT_FALSE(a == b);
  EXPECT_NE(hash_of(a), hash_of(b));
  EXPECT_FALSE(Attrs(UnaryAttrs{}) == Attrs(BinaryAttrs{}));
}

// A random graph over [n, 8] with every kind of value and of attribute field.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed), graph_("random " + std::to_string(seed)) {
    values_ = {graph_.input("x", DType::kF32, {Dim::symbol("n"), 8}), graph_.constant(uniform())};
    const ValueId state = graph_.state("s", DType::kBF16, {Dim::symbol("past"), 8});
    graph_.output("state", kv_append(graph_, state, values_[0], ""));
    for (int i = 0; i < 20; ++i) values_.push_back(next());
    graph_.output("last", values_.back());
  }
  const Graph& graph() const { return graph_; }

 private:
  double uniform() { return std::uniform_real_distribution(-10.0, 10.0)(random_); }
  int below(int end) { return std::uniform_int_distribution(0, end - 1)(random_); }
  ValueId any() { return values_[static_cast<size_t>(below(static_cast<int>(values_.size())))]; }
  ValueId row() {
    const ValueId id = any();
    return graph_.value(id).shape.empty() ? values_[0] : id;
  }

  ValueId next() {
    const std::string path = below(2) ? "layers." + std::to_string(below(3)) + ".op" : "";
    const auto eps = static_cast<float>(std::abs(uniform()));
    switch (below(7)) {
      case 0:
        return graph_.add(Op::kAdd, NoAttrs{}, {row(), any()}, path);
      case 1:
        return graph_.add(Op::kBinary, BinaryAttrs{static_cast<BinaryKind>(below(5))}, {row(), row()}, path);
      case 2:
        return graph_.add(Op::kActivation, ActivationAttrs{static_cast<ActivationKind>(below(7))}, {row()}, path);
      case 3:
        return graph_.add(Op::kRmsNorm, RmsNormAttrs{eps, below(2) == 1, below(2) == 1},
                          {row(), graph_.param("norm", DType::kF32, {8})}, path);
      case 4:
        return graph_.add(Op::kTranspose, TransposeAttrs{{0, 1}}, {row()}, path);
      case 5:
        return graph_.add(Op::kSlice, SliceAttrs{-1, 0, 8, 1}, {row()}, path);
      default:
        return graph_.add(Op::kMatMul, MatMulAttrs{static_cast<WeightLayout>(below(2))},
                          {row(), graph_.param("w", DType::kF32, {8, 8})}, path);
    }
  }

  std::mt19937 random_;
  Graph graph_;
  std::vector<ValueId> values_;
};

TEST(GraphText, RandomGraphsSurviveTheRoundTrip) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const RandomGraph random(seed);
    const std::string text = random.graph().to_text();
    const Graph parsed = Graph::parse(text);
    ASSERT_EQ(parsed.to_text(), text);
    for (size_t i = 0; i < parsed.nodes().size(); ++i)
      ASSERT_TRUE(parsed.nodes()[i].attrs == random.graph().nodes()[i].attrs) << text;
  }
}

}  // namespace
}  // namespace atb
