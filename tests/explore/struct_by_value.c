//@ command = "nearmiss explore struct_by_value.c --function look --range which=0..3"
//@ paths = 2
// Too large for registers: the copy on the stack has bounds as every variable has.
struct board {
    int owner;
    long cells[4];
};

int look(struct board board, unsigned which)
{
    if (board.cells[which] == 7)
        return board.owner;
    return -1;
}
