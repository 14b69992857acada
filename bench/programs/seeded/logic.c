// Relations: what fails does so when several inputs agree.
#include <assert.h>
#include "seeded.h"

// A triangle of two equal sides that is flat.
SEEDED(triangle, "3 4 5", "", "2 2 4", "")
{
    int a, b, c;
    if (argc < 2 || sscanf(argv[1], "%d %d %d", &a, &b, &c) != 3 || a <= 0 || b <= 0 || c <= 0 || a > 99 || b > 99 || c > 99)
        return 1;
    if (a + b < c || a + c < b || b + c < a)
        return 1;
    int area16 = (a + b + c) * (a + b - c) * (a + c - b) * (b + c - a);
    printf("%d\n", 1000 / area16);
    return 0;
}

// A discount that is larger than the price, for members in December.
SEEDED(discount, "100 5 n", "", "100 12 m", "")
{
    int price, month;
    char member;
    if (argc < 2 || sscanf(argv[1], "%d %d %c", &price, &month, &member) != 3 || price < 50 || price > 500 || month < 1 || month > 12)
        return 1;
    int off = (member == 'm' ? 60 : 10) + (month == 12 ? 50 : 0);
    assert(off <= price || price < 60);
    return 0;
}

// Two rectangles that share an edge and nothing else.
SEEDED(rectangles, "0 5 3 9", "", "0 5 5 9", "")
{
    int a, b, c, d;
    if (argc < 2 || sscanf(argv[1], "%d %d %d %d", &a, &b, &c, &d) != 4 || a >= b || c >= d || a < 0 || d > 50 || c < 0 || b > 50)
        return 1;
    int low = a > c ? a : c, high = b < d ? b : d;
    if (high < low)
        return 1;
    printf("%d\n", 100 / (high - low));
    return 0;
}

// A leap year's last day in a table of 365.
SEEDED(day_of_year, "2023 365", "", "2024 366", "")
{
    static char holidays[365];
    int year, day;
    if (argc < 2 || sscanf(argv[1], "%d %d", &year, &day) != 2 || year < 1900 || year > 2100 || day < 1)
        return 1;
    int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (day > 365 + leap)
        return 1;
    return holidays[day - 1];
}

// Moves on a board: off the edge after going up and left.
SEEDED(board, "rdru", "", "l", "")
{
    char board[4][4] = {{0}};
    int x = 0, y = 0;
    for (const char *s = argc > 1 ? argv[1] : ""; *s; s++) {
        x += (*s == 'r') - (*s == 'l');
        y += (*s == 'd') - (*s == 'u');
        if (x > 3 || y > 3 || y < 0)
            return 1;
        board[y][x + 4 * (x < 0 && y == 0) * -1]++;
    }
    return board[0][0];
}

// The password is the user's name backwards.
SEEDED(backwards, "bob", "secret\n", "anna1", "1anna\n")
{
    char line[32];
    if (argc < 2 || !fgets(line, sizeof line, stdin))
        return 1;
    size_t n = strlen(argv[1]);
    line[strcspn(line, "\n")] = 0;
    if (n < 4 || strlen(line) != n)
        return 1;
    for (size_t i = 0; i < n; i++)
        if (line[i] != argv[1][n - 1 - i])
            return 1;
    abort();
}

// Three numbers in order whose steps are the same.
SEEDED(progression, "1 5 6", "", "11 22 33", "")
{
    int a, b, c;
    if (argc < 2 || sscanf(argv[1], "%d %d %d", &a, &b, &c) != 3 || a < 10 || b < 10 || c < 10 || a > 1000 || b > 1000 || c > 1000)
        return 1;
    if (a < b && b < c)
        printf("%d\n", 100 / ((c - b) - (b - a)));
    return 0;
}

// A word that is its own reverse and has an odd number of letters.
SEEDED(palindrome, "hello", "", "kayak", "")
{
    const char *s = argc > 1 ? argv[1] : "";
    size_t n = strlen(s);
    if (n < 5)
        return 1;
    for (size_t i = 0; i < n / 2; i++)
        if (s[i] != s[n - 1 - i])
            return 1;
    int *middle = n % 2 ? NULL : (int *)&n;
    return *middle == 7;
}
