//@ command = """nearmiss explore date.c --function next_day --pre next_day_pre --oracle check_next_day \
//@   --size date=1 --range date->year=1898..2002 --range date->month=-1..14 --range date->day=-1..33"""
//@ large = "--range date->year=-10000..10000 --range date->month=-100..100 --range date->day=-100..100"
//@ require = ["date->year >= 1583", "1 <= date->month && date->month <= 12", "1 <= date->day && date->day <= 31",
//@   "date->month == 4 || date->month == 6 || date->month == 9 || date->month == 11 => date->day <= 30",
//@   "date->month == 2 => date->day <= 29",
//@   "date->month == 2 && date->day == 29 => date->year % 4 == 0 && (date->year % 100 != 0 || date->year % 400 == 0)"]
#include <stdbool.h>

struct date {
    int year, month, day;
};

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_of(int month, int year)
{
    switch (month) {
    case 2:
        if (is_leap(year))
            return 29;
        return 28;
    case 4:
    case 6:
    case 9:
    case 11:
        return 30;
    default:
        return 31;
    }
}

// Goes on by a day.
void next_day(struct date *date)
{
    if (date->day < days_of(date->month, date->year)) {
        date->day++;
        return;
    }
    date->day = 1;
    if (date->month < 12) {
        date->month++;
        return;
    }
    date->month = 1;
    date->year++;
}

// A date of the Gregorian calendar.
bool next_day_pre(const struct date *date)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (date->year < 1583 || date->month < 1 || date->month > 12 || date->day < 1)
        return false;
    if (date->month == 2 && date->day == 29)
        return is_leap(date->year);
    return date->day <= days[date->month - 1];
}

// Days since the first of March of the year 0.
static long number_of(const struct date *date)
{
    long month = (date->month + 9) % 12;
    long year = date->year - (month >= 10);
    return year * 365 + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + date->day - 1;
}

bool check_next_day(const struct date *date, const struct date *old_date)
{
    return next_day_pre(date) && number_of(date) == number_of(old_date) + 1;
}
