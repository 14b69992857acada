//@ command = "nearmiss explore shared_cases.c --function days"
//@ paths = 3
// Labels of the same block are the same way.
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
