//@ command = "nearmiss explore strings.c --function options --size words=n --range n=0..2 --string words[]=2"
//@ paths = 13
// A word is empty or not, and then begins with a dash or not: 1 + 3 + 9.
int options(char **words, int n)
{
    int found = 0;
    for (int i = 0; i < n; i++) {
        if (words[i][0] == 0)
            continue;
        if (words[i][0] == '-')
            found++;
    }
    return found;
}
