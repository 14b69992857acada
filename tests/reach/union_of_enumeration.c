//@ command = "nearmiss reach union_of_enumeration.c:9 --function f"
//@ verdict = "reached"
union u { enum { A, B } tag; int number; };
int f(union u v)
{
    // A union's first member is an enumeration, but any int may be in it.
    int n = v.number;
    if (n == 77)
        return 1;
    return 0;
}
