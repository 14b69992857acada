//@ command = "nearmiss explore precondition_alone.c --function grade --pre grade_pre"
//@ paths = 3
// Nothing else is said about the inputs: the first decision comes behind no condition at all.
int grade(int points)
{
    if (points > 90)
        return 1;
    if (points > 50)
        return 2;
    return 3;
}

int grade_pre(int points)
{
    return points >= 0 && points <= 100;
}
