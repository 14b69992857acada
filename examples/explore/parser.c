//@ command = """nearmiss explore parser.c --function parse_sum --pre parse_sum_pre --oracle check_parse_sum \
//@   --string text=3 --range text=42..49 --size value=1"""
//@ large = "--string text=7 --range text=1..127"
//@ require = ["forall i in 0..count(text)-1: ('0' <= text[i] && text[i] <= '9') || text[i] == '+' || text[i] == '-'"]
#include <stdbool.h>

// number = digit { digit };  sum = number { ("+" | "-") number }
static const char *parse_number(const char *text, int *value)
{
    if (*text < '0' || *text > '9')
        return 0;
    *value = 0;
    while (*text >= '0' && *text <= '9')
        *value = *value * 10 + (*text++ - '0');
    return text;
}

// Reads a sum; false and no value if the text is none.
bool parse_sum(const char *text, int *value)
{
    int sum, number;
    text = parse_number(text, &sum);
    if (!text)
        return false;
    while (*text != 0) {
        char sign = *text++;
        if (sign != '+' && sign != '-')
            return false;
        text = parse_number(text, &number);
        if (!text)
            return false;
        sum = sign == '+' ? sum + number : sum - number;
    }
    *value = sum;
    return true;
}

// Digits and signs only.
bool parse_sum_pre(const char *text, int *value)
{
    (void)value;
    for (; *text != 0; text++)
        if (!((*text >= '0' && *text <= '9') || *text == '+' || *text == '-'))
            return false;
    return true;
}

// From the end to the front.
bool check_parse_sum(const char *text, const int *value, bool result)
{
    int length = 0, sum = 0, number = 0, scale = 1;
    while (text[length] != 0)
        length++;
    for (int i = length - 1; i >= -1; i--) {
        int digit = i >= 0 && text[i] >= '0' && text[i] <= '9';
        if (digit) {
            number += scale * (text[i] - '0');
            scale *= 10;
        } else if (scale == 1) {
            return !result;
        } else {
            sum += i >= 0 && text[i] == '-' ? -number : number;
            number = 0;
            scale = 1;
        }
    }
    return result && *value == sum;
}
