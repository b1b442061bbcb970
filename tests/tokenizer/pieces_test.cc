// The parts of the tokenizers that stand alone. Whole tokenizers are compared in tests/python/test_tokenizer.py.
#include <atb/error.h>
#include <gmock/gmock.h>

#include "tokenizer/added_tokens.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/chat_formats.h"
#include "tokenizer/merges.h"
#include "tokenizer/pattern.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/utf8.h"
#include "tokenizer/vocab.h"

namespace atb {
namespace {

using testing::ElementsAre;

TEST(Utf8, ReplacesMaximalInvalidParts) {
  // The example of the Unicode Standard, 3.9, table 3-8.
  std::string out;
  append_utf8_replaced("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64", true, out);
  EXPECT_EQ(out, "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
}

TEST(Utf8, LeavesAnIncompleteCharacter) {
  std::string out;
  EXPECT_EQ(append_utf8_replaced("a\xEA\xB9", false, out), 1u);
  EXPECT_EQ(out, "a");
}

TEST(Utf8, CodesRoundTrip) {
  for (char32_t code : {0x24, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF}) {
    std::string text;
    append_utf8(code, text);
    EXPECT_EQ(valid_utf8_prefix(text), text.size());
    EXPECT_EQ(utf8_code(text), code);
  }
}

TEST(ByteAlphabet, SpellsEveryByte) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  EXPECT_EQ(unspell_bytes(spell_bytes(all)), all);
  EXPECT_EQ(spell_bytes(" a\n"), "Ġa\u010A");
  EXPECT_EQ(unspell_bytes("中"), std::nullopt);
}

TEST(Vocab, FindsTheFirstOfEqualSpellings) {
  const Vocab vocab({"a", "", "b", "a"}, std::vector<TokenKind>(4, TokenKind::kNormal), "test");
  EXPECT_EQ(vocab.find("a"), 0);
  EXPECT_EQ(vocab.find("b"), 2);
  EXPECT_EQ(vocab.find(""), std::nullopt);
  EXPECT_EQ(vocab.text(3), "a");
}

TEST(Vocab, ReadsByteTokens) {
  EXPECT_EQ(Vocab::parse_byte_token("<0xEA>"), 0xEA);
  EXPECT_EQ(Vocab::parse_byte_token("<0xeg>"), std::nullopt);
  EXPECT_EQ(Vocab::byte_token(0x0A), "<0x0A>");
}

TEST(Merger, TakesTheLowestRankThenTheLeftmost) {
  MergeTable table(2);  // tokens: a=0 b=1 ab=2 aab=3
  table.add(0, 1, 2);
  table.add(0, 2, 3);
  Merger merger(table);
  std::vector<TokenId> tokens = {0, 0, 1, 0, 1, 1};
  merger.merge(tokens);
  EXPECT_THAT(tokens, ElementsAre(3, 2, 1));
}

TEST(Merger, IsNotQuadratic) {
  MergeTable table(1);
  table.add(0, 0, 1);
  std::vector<TokenId> tokens(1'000'001, 0);
  Merger(table).merge(tokens);
  EXPECT_EQ(tokens.size(), 500'001u);
}

TEST(Pattern, RefusesWhatWouldMeanSomethingElse) {
  for (const char* pattern :
       {R"(\w+)", R"([\S])", "[a[b]]", "[a&&b]", "(?i)a", "a{1,3}+", R"([\P{L}])", R"(\p{^L})", "("}) {
    EXPECT_THROW(Pattern(pattern, "test"), Error) << pattern;
  }
}

TEST(Pattern, InvalidBytesMatchNothing) {
  std::vector<Pattern::Range> matches;
  Pattern(R"(\p{L}+)", "test")
      .find_all(
          "ab\xFF"
          "cd",
          matches);
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(matches[1].begin, 3u);
}

TEST(PreTokenizer, UnknownNameIsAnErrorWithTheNearest) {
  try {
    named_pre_tokenizer("qwen3", "file");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kModel);
    EXPECT_THAT(error.hint(), testing::HasSubstr("qwen2"));
  }
}

TEST(AddedTokens, LongestWinsAndControlNeedsTrust) {
  const AddedTokens added({{.text = "<a>", .id = 1, .control = true}, {.text = "<a><b>", .id = 2, .control = true}});
  std::vector<Fragment> trusted, untrusted;
  added.split("x<a><b><a>", true, trusted);
  ASSERT_EQ(trusted.size(), 3u);
  EXPECT_EQ(trusted[1].token->id, 2);
  added.split("x<a><b>", false, untrusted);
  ASSERT_EQ(untrusted.size(), 1u);
  EXPECT_EQ(untrusted[0].text, "x<a><b>");
}

TEST(ChatFormats, FindsTheDefaultSystemMessage) {
  const std::string jinja = R"({{ '<|im_start|>system\nBe nice.<|im_end|>\n' }}{{ '<|im_start|>' + role }})";
  const ChatFormat* format = find_chat_format(jinja);
  ASSERT_NE(format, nullptr);
  EXPECT_EQ(default_system_message(*format, jinja), "Be nice.");
  EXPECT_EQ(find_chat_format("{{ messages }}"), nullptr);
}

}  // namespace
}  // namespace atb
