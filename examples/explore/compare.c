//@ command = """nearmiss explore compare.c --function compare --pre compare_pre --oracle check_compare \
//@   --string a=2 --string b=2 --range a=64..98 --range b=64..98"""
//@ large = "--string a=5 --string b=5 --range a=1..127 --range b=1..127"
//@ require = ["forall i in 0..count(a)-1: ('a' <= a[i] && a[i] <= 'z') || ('A' <= a[i] && a[i] <= 'Z')",
//@   "forall i in 0..count(b)-1: ('a' <= b[i] && b[i] <= 'z') || ('A' <= b[i] && b[i] <= 'Z')"]

// Compares two words without regard to case: negative, 0 or positive.
int compare(const char *a, const char *b)
{
    for (;; a++, b++) {
        int one = *a, other = *b;
        if (one >= 'A' && one <= 'Z')
            one += 'a' - 'A';
        if (other >= 'A' && other <= 'Z')
            other += 'a' - 'A';
        if (one != other)
            return one - other;
        if (one == 0)
            return 0;
    }
}

static int is_word(const char *s)
{
    for (; *s != 0; s++)
        if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z')))
            return 0;
    return 1;
}

int compare_pre(const char *a, const char *b)
{
    return is_word(a) && is_word(b);
}

// The bit that makes letters small ones is 32.
int check_compare(const char *a, const char *b, int result)
{
    while (*a != 0 && (*a | 32) == (*b | 32))
        a++, b++;
    int one = *a == 0 ? 0 : *a | 32, other = *b == 0 ? 0 : *b | 32;
    return (result > 0) - (result < 0) == (one > other) - (one < other);
}
