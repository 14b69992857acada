//@ command = "nearmiss reach variable_by_pointer.c:9 --function f"
//@ verdict = "infeasible"
//@ assumed = "never to a variable of the program"
int counter;
int f(int *p)
{
    counter = 1; *p = 9;
    if (counter == 9)
        return 1;
    return 0;
}
