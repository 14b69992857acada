//@ command = "nearmiss explore shared_cases.c --function days"
//@ paths = 6
// Every label is a way of its own, as it is a branch of its own for coverage.
int days(unsigned char month)
{
    switch (month) {
    case 2:
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
