//@ command = "nearmiss reach around.c:13 --not-through around.c:7 --function f"
//@ verdict = "reached"
//@ runs = 4
int f(int a, int b)
{
    if (a > 3)
        b += 1;
    else
        b += 2;
    if (a == 4)
        b = 9;
    if (b == 77)
        return b;
    return 0;
}
