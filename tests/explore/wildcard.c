//@ command = "nearmiss explore wildcard.c"
//@ paths = 28
//@ failing = 21
// A matcher on three bytes that no zero need end. A path ends where it first reads beyond them: what lies
// there decides nothing. The numbers are those of all byte strings of a small alphabet, enumerated.
#include <nearmiss.h>

static int matches(const char *pattern, const char *text)
{
    if (*pattern == '\0') //~ error[out-of-bounds-read]
        return *text == '\0';
    if (*pattern == '*') {
        do {
            if (matches(pattern + 1, text))
                return 1;
        } while (*text++ != '\0');
        return 0;
    }
    if (*text != '\0' && (*pattern == '?' || *pattern == *text))
        return matches(pattern + 1, text + 1);
    return 0;
}

int main(void)
{
    char pattern[3];
    nearmiss_symbolic(pattern, sizeof pattern, "pattern");
    return matches(pattern, "ab");
}
