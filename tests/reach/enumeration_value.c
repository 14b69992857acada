//@ command = "nearmiss reach enumeration_value.c:8 --function f"
//@ verdict = "infeasible"
//@ assumed = "`c` is one of its constants"
enum color { RED, GREEN = 5 };
int f(enum color c)
{
    if (c == 3)
        return 1;
    return 0;
}
