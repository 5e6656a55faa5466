// The C ABI of native/hf (Rust): tokenizers, safetensors and JSON. C++ uses the wrappers
// tokenizer.h, safetensors.h and json.h instead. Strings are UTF-8 with a length; what is returned
// belongs to the caller until given to the matching *_free. No function lets a Rust panic out.
#ifndef HF_HF_H_
#define HF_HF_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// HF_OK, or another one with *error (may be passed as NULL) set to a NUL-terminated message to be
// given to hf_string_free. HF_TOO_LONG, of hf_tokenizer_encode: the input does not fit, and may not
// be cut as it would have to be.
typedef enum hf_status { HF_OK = 0, HF_FAILED = 1, HF_TOO_LONG = 2 } hf_status;
void hf_string_free(char* string);

// "tokenizers 0.23.2"; static.
const char* hf_tokenizers_version(void);

// ---- Tokenizer -------------------------------------------------------------------------------

typedef struct hf_tokenizer hf_tokenizer;

// The kind of model, where the directory does not name its tokenizer class.
typedef enum hf_family {
  HF_BERT = 0,
  HF_ROBERTA = 1,
  HF_MPNET = 2,
  HF_ALBERT = 3,
  HF_XLM_ROBERTA = 4,
  HF_CAMEMBERT = 5,
  HF_DEBERTA_V2 = 6,
  HF_TOKENIZER_JSON = 7,  // tokenizer.json as it is, whatever class is named
  HF_UNKNOWN = 8          // the same where no class is named
} hf_family;

// position_limit: tokens that the model's position table holds, special tokens included; SIZE_MAX
// where it is known only later, see hf_tokenizer_limit.
hf_status hf_tokenizer_open(const char* directory, size_t directory_length, int32_t family,
                            size_t position_limit, hf_tokenizer** tokenizer, char** error);
// As if opened with position_limit, where that is less. Not while another thread encodes.
hf_status hf_tokenizer_limit(hf_tokenizer* tokenizer, size_t position_limit, char** error);
// Fails, naming the token, where a token has an id of `rows` or more.
hf_status hf_tokenizer_require_ids_below(const hf_tokenizer* tokenizer, size_t rows, char** error);
void hf_tokenizer_free(hf_tokenizer* tokenizer);

// The smaller of position_limit and tokenizer_config.json's model_max_length.
size_t hf_tokenizer_max_length(const hf_tokenizer* tokenizer);
// Of the token that its settings name for padding; -1: they name none.
int64_t hf_tokenizer_padding_id(const hf_tokenizer* tokenizer);

// As in transformers.
typedef enum hf_truncation {
  HF_LONGEST_FIRST = 0,
  HF_ONLY_FIRST = 1,
  HF_ONLY_SECOND = 2,
  HF_DO_NOT_TRUNCATE = 3
} hf_truncation;

// From which end tokens are taken away.
typedef enum hf_truncation_side {
  HF_SIDE_OF_TOKENIZER = 0,
  HF_RIGHT = 1,
  HF_LEFT = 2
} hf_truncation_side;

// A text, or two. Invalid UTF-8 is read as U+FFFD; NUL is a character.
typedef struct hf_input {
  const char* text;
  size_t text_length;
  const char* pair;         // may be NULL
  size_t pair_length;       // 0: there is one text, as an empty second one is none to transformers
  int32_t truncation;       // hf_truncation
  int32_t truncation_side;  // hf_truncation_side
} hf_input;

typedef struct hf_encoding {
  int64_t* input_ids;       // [length], special tokens included, at most max_length
  int64_t* token_type_ids;  // [length]
  size_t length;
  bool truncated;  // the texts had more tokens than fit
} hf_encoding;

// Any thread, any number at once.
hf_status hf_tokenizer_encode(const hf_tokenizer* tokenizer, const hf_input* input,
                              hf_encoding* encoding, char** error);
void hf_encoding_free(hf_encoding* encoding);

// ---- Safetensors -----------------------------------------------------------------------------

typedef struct hf_tensor {
  const char* name;
  size_t name_length;
  const char* dtype;  // "F32", "F16", "BF16", ...: NUL-terminated
  const int64_t* shape;
  size_t rank;
  size_t begin, end;  // byte offsets from the start of the file
} hf_tensor;

typedef struct hf_tensors hf_tensors;

// Validates the header of a whole file in memory; reads no tensor data and keeps no pointer to it.
hf_status hf_safetensors_parse(const void* file, size_t size, hf_tensors** tensors, char** error);
size_t hf_tensors_count(const hf_tensors* tensors);
// In the order of their offsets; valid until hf_tensors_free. index < hf_tensors_count().
hf_tensor hf_tensors_get(const hf_tensors* tensors, size_t index);
void hf_tensors_free(hf_tensors* tensors);

// ---- JSON ------------------------------------------------------------------------------------

// A value of a document; the root is one. Those inside are valid as long as the root.
typedef struct hf_json hf_json;

typedef enum hf_json_kind {
  HF_JSON_NULL = 0,
  HF_JSON_BOOL = 1,
  HF_JSON_INTEGER = 2,  // fits int64_t
  HF_JSON_NUMBER = 3,
  HF_JSON_STRING = 4,
  HF_JSON_ARRAY = 5,
  HF_JSON_OBJECT = 6
} hf_json_kind;

// Fails, saying line and column, for what is no JSON, nests deeper than 128, or has a key twice.
hf_status hf_json_parse(const char* document, size_t length, hf_json** root, char** error);
void hf_json_free(hf_json* root);

int32_t hf_json_kind_of(const hf_json* value);
// Of a value of another kind: false, 0, 0.0, "" and 0.
bool hf_json_bool(const hf_json* value);
int64_t hf_json_integer(const hf_json* value);
double hf_json_number(const hf_json* value);                       // of an integer too
const char* hf_json_string(const hf_json* value, size_t* length);  // no NUL at its end
size_t hf_json_length(const hf_json* value);                       // elements or entries
// NULL behind the last one. Of an object: entries in the order of the document.
const hf_json* hf_json_at(const hf_json* value, size_t index);
const char* hf_json_key(const hf_json* value, size_t index, size_t* length);

#ifdef __cplusplus
}
#endif

#endif  // HF_HF_H_
