// The Python module atb._core: a thin layer over <atb/engine.h>. Python code in python/atb gives it its shape.
#include <atb/engine.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

void bind_explain(nb::module_& m);  // explain.cc

namespace {

// atb::Error becomes atb.Error(line) with the parts as attributes.
void register_error(nb::module_& m) {
  static PyObject* type = PyErr_NewExceptionWithDoc(
      "atb.Error", "An error of atb: `code`, `message`, `where` and `hint` say what was wrong, where, and what to do.",
      PyExc_RuntimeError, nullptr);
  m.attr("Error") = nb::borrow(type);
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const atb::Error& e) {
      nb::object error = nb::borrow(type)(e.what());
      error.attr("code") = atb::error_code_name(e.code());
      error.attr("message") = e.message();
      error.attr("where") = e.where();
      error.attr("hint") = e.hint();
      PyErr_SetObject(type, error.ptr());
    }
  });
}

// Calls back into Python for each piece of text. An exception there cancels the generation and is raised afterwards.
class PythonCallback {
 public:
  explicit PythonCallback(nb::object function) : function_(std::move(function)) {}

  bool operator()(std::string_view piece) {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) return fail();
    if (function_.is_none()) return true;
    PyObject* result = PyObject_CallOneArg(function_.ptr(), nb::str(piece.data(), piece.size()).ptr());
    if (result == nullptr) return fail();
    const bool go_on = result == Py_None || PyObject_IsTrue(result) != 0;
    Py_DECREF(result);
    return go_on;
  }

  /// Raises what the callback raised, if it did.
  void rethrow() {
    if (!failed_) return;
    PyErr_Restore(type_, value_, trace_);
    nb::raise_python_error();
  }

 private:
  bool fail() {
    failed_ = true;
    PyErr_Fetch(&type_, &value_, &trace_);
    return false;
  }
  nb::object function_;
  bool failed_ = false;
  PyObject *type_ = nullptr, *value_ = nullptr, *trace_ = nullptr;
};

// With a Model or a Session.
template <class Generator, class Prompt>
atb::GenerateResult generate(Generator& generator, const Prompt& prompt, const atb::GenerateOptions& options,
                             nb::object on_text) {
  PythonCallback callback(std::move(on_text));
  atb::GenerateResult result;
  {
    nb::gil_scoped_release release;
    result = generator.generate(prompt, options, [&](std::string_view piece) { return callback(piece); });
  }
  callback.rethrow();
  return result;
}

template <size_t kRank>
using Array = nb::ndarray<nb::numpy, float, nb::ndim<kRank>>;

// What `compute` returns without holding the GIL, as an array that owns the numbers. `shape` comes afterwards.
template <size_t kRank, class Compute, class Shape>
Array<kRank> compute_array(const Compute& compute, const Shape& shape) {
  auto values = std::make_unique<std::vector<float>>();
  {
    nb::gil_scoped_release release;
    *values = compute();
  }
  const std::array<size_t, kRank> sizes = shape(*values);
  float* data = values->data();
  nb::capsule owner(values.release(), [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
  return {data, kRank, sizes.data(), owner};
}

// [tokens, vocabulary]
Array<2> logits(const atb::Model& model, const std::vector<atb::TokenId>& tokens) {
  return compute_array<2>([&] { return model.logits(tokens); },
                          [&](const auto&) {
                            return std::array{tokens.size(), size_t(model.vocab_size())};
                          });
}

// [vocabulary]
Array<1> feed(atb::Session& session, const std::vector<atb::TokenId>& tokens) {
  return compute_array<1>([&] { return session.feed(tokens); },
                          [](const auto& values) { return std::array{values.size()}; });
}

void bind_options(nb::module_& m) {
  nb::class_<atb::LoadOptions>(m, "LoadOptions")
      .def(nb::init<>())
      .def_rw("threads", &atb::LoadOptions::threads)
      .def_rw("precision", &atb::LoadOptions::precision)
      .def_rw("kv_type", &atb::LoadOptions::kv_type)
      .def_rw("max_isa", &atb::LoadOptions::max_isa)
      .def_rw("context", &atb::LoadOptions::context)
      .def_rw("prefill_block", &atb::LoadOptions::prefill_block)
      .def_rw("graph_text", &atb::LoadOptions::graph_text);
  nb::class_<atb::SamplingOptions>(m, "SamplingOptions")
      .def(nb::init<>())
      .def_rw("temperature", &atb::SamplingOptions::temperature)
      .def_rw("top_k", &atb::SamplingOptions::top_k)
      .def_rw("top_p", &atb::SamplingOptions::top_p)
      .def_rw("min_p", &atb::SamplingOptions::min_p)
      .def_rw("repeat_penalty", &atb::SamplingOptions::repeat_penalty)
      .def_rw("repeat_last_n", &atb::SamplingOptions::repeat_last_n)
      .def_rw("seed", &atb::SamplingOptions::seed);
  nb::class_<atb::GenerateOptions>(m, "GenerateOptions")
      .def(nb::init<>())
      .def_rw("max_tokens", &atb::GenerateOptions::max_tokens)
      .def_rw("sampling", &atb::GenerateOptions::sampling)
      .def_rw("stop", &atb::GenerateOptions::stop)
      .def_rw("ignore_eos", &atb::GenerateOptions::ignore_eos)
      .def_rw("parse_special", &atb::GenerateOptions::parse_special);
}

void bind_results(nb::module_& m) {
  nb::class_<atb::GenerateResult>(m, "Generation", "What a generation gave.")
      .def_ro("text", &atb::GenerateResult::text)
      .def_ro("tokens", &atb::GenerateResult::tokens)
      .def_prop_ro("finish_reason",
                   [](const atb::GenerateResult& r) { return atb::finish_reason_name(r.finish_reason); })
      .def_ro("prompt_tokens", &atb::GenerateResult::prompt_tokens)
      .def_ro("cached_tokens", &atb::GenerateResult::cached_tokens)
      .def_ro("first_token_s", &atb::GenerateResult::first_token_s)
      .def_prop_ro("prefill_tok_s", &atb::GenerateResult::prefill_tok_s)
      .def_prop_ro("decode_tok_s", &atb::GenerateResult::decode_tok_s)
      .def("__str__", [](const atb::GenerateResult& r) { return r.text; })
      .def("__repr__", [](const atb::GenerateResult& r) {
        return "<atb.Generation of " + std::to_string(r.tokens.size()) + " tokens, finish_reason '" +
               atb::finish_reason_name(r.finish_reason) + "'>";
      });

  nb::class_<atb::ModelDescription>(m, "ModelDescription", "Facts of a loaded model.")
      .def_ro("path", &atb::ModelDescription::path)
      .def_ro("architecture", &atb::ModelDescription::architecture)
      .def_ro("weight_types", &atb::ModelDescription::weight_types)
      .def_ro("isa", &atb::ModelDescription::isa)
      .def_ro("cube", &atb::ModelDescription::cube)
      .def_ro("vector", &atb::ModelDescription::vector)
      .def_ro("precision", &atb::ModelDescription::precision)
      .def_ro("kv_type", &atb::ModelDescription::kv_type)
      .def_ro("layers", &atb::ModelDescription::layers)
      .def_ro("hidden_size", &atb::ModelDescription::hidden_size)
      .def_ro("intermediate_size", &atb::ModelDescription::intermediate_size)
      .def_ro("heads", &atb::ModelDescription::heads)
      .def_ro("kv_heads", &atb::ModelDescription::kv_heads)
      .def_ro("head_dim", &atb::ModelDescription::head_dim)
      .def_ro("vocab_size", &atb::ModelDescription::vocab_size)
      .def_ro("context", &atb::ModelDescription::context)
      .def_ro("parameters", &atb::ModelDescription::parameters)
      .def_ro("threads", &atb::ModelDescription::threads)
      .def_ro("load_s", &atb::ModelDescription::load_s)
      .def_ro("kernels_per_layer", &atb::ModelDescription::kernels_per_layer);
}

void bind_session(nb::module_& m) {
  nb::class_<atb::Session>(m, "Session")
      .def("generate_text", &generate<atb::Session, std::string_view>, "prompt"_a, "options"_a, "on_text"_a.none())
      .def("generate_tokens", &generate<atb::Session, std::vector<atb::TokenId>>, "prompt"_a, "options"_a,
           "on_text"_a.none())
      .def("feed", &feed, "tokens"_a)
      .def("truncate", &atb::Session::truncate, "length"_a)
      .def_prop_ro("length", &atb::Session::length);
}

void bind_model(nb::module_& m) {
  nb::class_<atb::SpecialTokens>(m, "SpecialTokens")
      .def_ro("bos", &atb::SpecialTokens::bos)
      .def_ro("bos_text", &atb::SpecialTokens::bos_text)
      .def_ro("eos", &atb::SpecialTokens::eos)
      .def_ro("eos_text", &atb::SpecialTokens::eos_text)
      .def_ro("adds_bos", &atb::SpecialTokens::adds_bos);

  nb::class_<atb::Model>(m, "Model")
      .def_static("load", &atb::Model::load, "path"_a, "options"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("description", &atb::Model::description, nb::rv_policy::reference_internal)
      .def("graph_text", &atb::Model::graph_text)
      .def("tokenize", &atb::Model::tokenize, "text"_a, "add_special"_a, "parse_special"_a)
      .def(
          "detokenize",
          [](const atb::Model& model, const std::vector<atb::TokenId>& tokens) {
            const std::string bytes = model.detokenize(tokens);
            return nb::steal<nb::str>(PyUnicode_DecodeUTF8(bytes.data(), Py_ssize_t(bytes.size()), "replace"));
          },
          "tokens"_a)
      .def_prop_ro("vocab_size", &atb::Model::vocab_size)
      .def("special_tokens", &atb::Model::special_tokens)
      .def_prop_ro("chat_template", &atb::Model::chat_template)
      .def(
          "chat_tokens",
          [](const atb::Model& model, const std::vector<std::vector<std::string>>& turns) {
            std::vector<atb::ChatTurn> list;
            for (const auto& turn : turns) list.push_back({turn.at(0), turn.at(1)});
            return model.chat_tokens(list);
          },
          "turns"_a)
      .def("generate_text", &generate<const atb::Model, std::string_view>, "prompt"_a, "options"_a, "on_text"_a.none())
      .def("generate_tokens", &generate<const atb::Model, std::vector<atb::TokenId>>, "prompt"_a, "options"_a,
           "on_text"_a.none())
      .def("session", &atb::Model::session)
      .def("logits", &logits, "tokens"_a);
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Native part of atb.";
  register_error(m);
  bind_options(m);
  bind_results(m);
  bind_session(m);
  bind_model(m);
  bind_explain(m);
}
