/* Functions of many forms with preconditions that are known. `//~ requires` is what a safe call needs; it must be found
   from the source and from the object alone. `//~ object` says what of it an object does not show. */
#include "forms.h"

//~ requires strlen(s) < bounds(s) && ((flags & 4) == 0 || bounds(out) >= 1) && ((flags & 16) == 0 || bounds(out) >= 2)
int describe(const char *s, unsigned flags, int *out)
{
    int n = 0;
    while (s[n])
        n++;
    if (flags & WANT_LENGTH)
        out[0] = n;
    if (flags & WANT_FIRST)
        out[1] = s[0];
    return n;
}

//~ requires n <= 0 || n % 2 != 0 || n <= bounds(t)
int pairs(const short *t, int n)
{
    int s = 0;
    if (n % 2 != 0)
        return -1;
    for (int i = 0; i < n; i += 2)
        s += t[i] - t[i + 1];
    return s;
}

//~ requires n <= bounds(from) && 2 * n < bounds(to)
void to_hex(char *restrict to, const unsigned char *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to[2 * i] = "0123456789abcdef"[from[i] >> 4];
        to[2 * i + 1] = "0123456789abcdef"[from[i] & 15];
    }
    to[2 * n] = 0;
}

//~ requires strlen(from) < bounds(from) && strlen(from) < bounds(to)
void wide_copy(wchar_t *restrict to, const wchar_t *restrict from)
{
    while ((*to++ = *from++))
        ;
}

//~ requires low >= high || (low >= 0 && high <= bounds(t))
long between(const int *t, int low, int high)
{
    long s = 0;
    for (int i = low; i < high; i++)
        s += t[i];
    return s;
}

//~ requires bounds(s) >= 1 && (s->length >= s->capacity || s->length < bounds(s->at))
int slice_add(struct slice *s, unsigned char c)
{
    if (s->length >= s->capacity)
        return 0;
    s->at[s->length++] = c;
    return 1;
}

//~ requires (mode != 1 || bounds(t) >= 1) && (mode != 2 || (n >= 1 && n <= bounds(t)))
int pick(const int *t, int n, enum mode mode)
{
    switch (mode) {
    case FIRST:
        return t[0];
    case LAST:
        return t[n - 1];
    default:
        return 0;
    }
}

//~ requires by != 0 && shift <= 31
//~ object permissive: processors shift by any number
unsigned scale(unsigned x, unsigned by, unsigned shift)
{
    return (x / by) << shift;
}

//~ requires path == NULL || strlen(path) < bounds(path)
const char *tail(const char *path)
{
    if (!path)
        return path;
    const char *last = path;
    for (; *path; path++)
        if (*path == '/')
            last = path + 1;
    return last;
}

//~ requires n <= 1 || n * n <= bounds(m) + 1
void transpose(float *m, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < i; j++) {
            float f = m[i * n + j];
            m[i * n + j] = m[j * n + i];
            m[j * n + i] = f;
        }
}

//~ requires bounds(line) >= 1 && (strlen(line) < bounds(line) || number <= 0)
int field(const char *line, int separator, int number)
{
    while (number > 0) {
        if (!*line)
            return -1;
        if (*line++ == separator)
            number--;
    }
    return *line;
}
