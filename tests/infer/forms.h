/* What a caller of forms.c sees. */
#include <stddef.h>
#include <wchar.h>
#define WANT_LENGTH 4
#define WANT_FIRST 16
struct slice {
    unsigned char *at;
    size_t length, capacity;
};
enum mode { NONE, FIRST, LAST };
int describe(const char *s, unsigned flags, int *out);
int pairs(const short *t, int n);
void to_hex(char *restrict to, const unsigned char *restrict from, size_t n);
void wide_copy(wchar_t *restrict to, const wchar_t *restrict from);
long between(const int *t, int low, int high);
int slice_add(struct slice *s, unsigned char c);
int pick(const int *t, int n, enum mode mode);
unsigned scale(unsigned x, unsigned by, unsigned shift);
const char *tail(const char *path);
void transpose(float *m, unsigned n);
int field(const char *line, int separator, int number);
