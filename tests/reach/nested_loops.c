//@ command = "nearmiss reach nested_loops.c:15 --function f"
//@ verdict = "infeasible"
int f(int n, int m)
{
    int count = 0;
    if (n < 0 || n > 5 || m < 0 || m > 5)
        return 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if ((i + j) % 2)
                count++;
    if (count == 12)
        return 1;
    if (count == 13)
        return 2;
    return 3;
}
