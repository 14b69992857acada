//@ command = "nearmiss reach case_line.c:8 --function f"
//@ verdict = "reached"
//@ runs = 4
int f(unsigned char a)
{
    switch (a % 16) {
    case 1: return 4;
    case 7: return 9;
    case 3:
        return 2;
    }
    return 0;
}
