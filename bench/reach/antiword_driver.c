/* Entry functions for `nearmiss reach` in antiword 0.37: the header of a document is the input. */
#include "antiword.h"

/* Word 8: where the table stream is, and how long it is. */
void drive_stylesheet(const UCHAR *aucHeader, ULONG ulSB, ULONG ulSize)
{
    static const ULONG aulDepot[1];
    pps_info_type tPPS = {0};

    tPPS.tTable.ulSB = ulSB;
    tPPS.tTable.ulSize = ulSize;
    vGet8Stylesheet(stdin, &tPPS, aulDepot, 1, aulDepot, 1, aucHeader);
}

/* WinWord 1 and 2. */
void drive_summary(const UCHAR *aucHeader, int iWordVersion)
{
    vSet2SummaryInfo(stdin, iWordVersion, aucHeader);
}
