// Numbers: dates, units, bases, ratios.
#include "seeded.h"

// The day before the first of a month is looked up one too far.
SEEDED(yesterday, "2024-05-17", "", "2024-01-01", "")
{
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;
    if (argc < 2 || sscanf(argv[1], "%d-%d-%d", &year, &month, &day) != 3)
        return 1;
    if (year < 1900 || year > 2100 || month < 1 || month > 12 || day < 1 || day > days[month - 1])
        return 1;
    if (--day == 0)
        day = days[--month - 1];
    printf("%d-%d-%d\n", year, month, day);
    return 0;
}

// An average of ages that are all rejected.
SEEDED(average, "30 40 50", "", "200 300", "")
{
    int sum = 0, count = 0;
    if (argc < 2)
        return 1;
    for (char *word = strtok(argv[1], " "); word; word = strtok(NULL, " ")) {
        int age = atoi(word);
        if (age > 0 && age < 150) {
            sum += age;
            count++;
        }
    }
    printf("%d\n", sum / count);
    return 0;
}

// A size with a unit overflows for gigabytes.
SEEDED(units, "12k", "", "9g", "")
{
    char unit = 0;
    int number;
    if (argc < 2 || sscanf(argv[1], "%d%c", &number, &unit) < 1 || number < 0 || number > 1000)
        return 1;
    int bytes = unit == 'k' ? number * 1024 : unit == 'm' ? number * 1024 * 1024
        : unit == 'g' ? number * 1024 * 1024 * 1024 : number;
    printf("%d\n", bytes);
    return 0;
}

// Roman numerals: a letter that is none is looked up.
SEEDED(roman, "XIV", "", "XIW", "")
{
    int values[] = {['C' - 'C'] = 100, ['D' - 'C'] = 500, ['I' - 'C'] = 1, ['L' - 'C'] = 50, ['M' - 'C'] = 1000,
                    ['V' - 'C'] = 5};
    int sum = 0, last = 0;
    if (argc < 2)
        return 1;
    for (char *s = argv[1] + strlen(argv[1]); s-- > argv[1];) {
        if (*s < 'C' || *s > 'Z' || *s == 'K')
            return 1;
        int value = *s == 'X' ? 10 : values[*s - 'C'];
        sum += value < last ? -value : value;
        last = value;
    }
    printf("%d\n", sum);
    return 0;
}

// Digits of a base that has more of them than the table.
SEEDED(base, "255 16", "", "35 36", "")
{
    static const char digits[16] = "0123456789abcdef";
    char out[65];
    unsigned number, radix, at = 64;
    if (argc < 2 || sscanf(argv[1], "%u %u", &number, &radix) != 2 || radix < 2 || radix > 36)
        return 1;
    out[64] = 0;
    do
        out[--at] = digits[number % radix];
    while (number /= radix);
    puts(out + at);
    return 0;
}

// The absolute value of the smallest number.
SEEDED(absolute, "-5", "", "-2147483648", "")
{
    if (argc < 2)
        return 1;
    int x = (int)strtol(argv[1], NULL, 10);
    int positive = x < 0 ? -x : x;
    printf("%d\n", positive % 10);
    return 0;
}

// A percentage of nothing, when the second number equals the first.
SEEDED(growth_rate, "100 150", "", "7 7", "")
{
    int before, after;
    if (argc < 2 || sscanf(argv[1], "%d %d", &before, &after) != 2 || before <= 0 || after <= 0 || before > 9999 || after > 9999)
        return 1;
    printf("%d years\n", 70 * 100 / (100 * (after - before) / before));
    return 0;
}

// A time of day whose seconds are a leap second only at the end of a day.
SEEDED(leap_second, "12:30:15", "", "23:59:60", "")
{
    unsigned char marks[86400 / 3600] = {0};
    int h, m, s;
    if (argc < 2 || sscanf(argv[1], "%d:%d:%d", &h, &m, &s) != 3)
        return 1;
    if (h < 0 || h > 23 || m < 0 || m > 59 || s < 0 || s > 60 || (s == 60 && (h != 23 || m != 59)))
        return 1;
    marks[(h * 3600 + m * 60 + s) / 3600] = 1;
    return marks[0] == 2;
}
