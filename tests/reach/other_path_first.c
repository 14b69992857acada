//@ command = "nearmiss reach other_path_first.c:17 --via other_path_first.c:10 --via other_path_first.c:12 --function f"
//@ verdict = "reached"
//@ runs = 6
int f(int a, int b, int c)
{
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        sum *= 10;
        if (a == i)
            sum += 1;
        else if (b == i)
            sum += 2;
        else
            sum += 3;
    }
    if (c > 100)
        return sum;
    return 0;
}
