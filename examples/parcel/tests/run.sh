#!/bin/sh
# Each test is a label; what parcel prints for it is in the file beside it.
cd "$(dirname "$0")" || exit 2
status=0
for label in *.label; do
    name=${label%.label}
    if ../parcel "$label" | cmp -s - "$name.price"; then
        echo "PASS: $name"
    else
        echo "FAIL: $name"
        status=1
    fi
done
../parcel missing.label 2>/dev/null
if [ $? -eq 2 ]; then echo "PASS: missing"; else echo "FAIL: missing"; status=1; fi
exit $status
