//@ command = "nearmiss reach division.c:8 --function f --when 'q * 7 + r == a'"
//@ verdict = "reached"
//@ runs = 4
int f(unsigned a)
{
    unsigned q = a / 7, r = a % 7;
    if (q == 143 && r == 5)
        return 1;
    return 0;
}
