//@ command = """nearmiss explore tritype.c --function tritype --pre tritype_pre --oracle check_tritype \
//@   --range a=-1..6 --range b=-1..6 --range c=-1..6"""
//@ large = "--range a=-1000000..1000000 --range b=-1000000..1000000 --range c=-1000000..1000000"
//@ require = ["a > 0", "b > 0", "c > 0"]
enum triangle { NO_TRIANGLE, SCALENE, ISOSCELES, EQUILATERAL };

// What kind of triangle has sides of these lengths.
enum triangle tritype(int a, int b, int c)
{
    int equal = 0;
    if (a == b)
        equal += 1;
    if (a == c)
        equal += 2;
    if (b == c)
        equal += 3;
    if (equal == 0) {
        if (a + b <= c || b + c <= a || a + c <= b)
            return NO_TRIANGLE;
        return SCALENE;
    }
    if (equal > 3)
        return EQUILATERAL;
    if (equal == 1 && a + b > c)
        return ISOSCELES;
    if (equal == 2 && a + c > b)
        return ISOSCELES;
    if (equal == 3 && b + c > a)
        return ISOSCELES;
    return NO_TRIANGLE;
}

int tritype_pre(int a, int b, int c)
{
    return a > 0 && b > 0 && c > 0;
}

int check_tritype(int a, int b, int c, enum triangle result)
{
    int longest = a > b ? a : b;
    longest = longest > c ? longest : c;
    if (a + b + c - longest <= longest)
        return result == NO_TRIANGLE;
    int pairs = (a == b) + (b == c) + (a == c);
    return result == (pairs == 3 ? EQUILATERAL : pairs == 1 ? ISOSCELES : SCALENE);
}
