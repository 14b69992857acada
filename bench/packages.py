"""The packages that are measured: how each is built, and what it is given to do.

A package is built in a copy of its source directory by one command line, in which $CC stands
for the compiler and $CFLAGS for its flags. A workload is a shell command in that directory;
`{big}` and `{small}` are files of text made by the harness.
"""

# Patches are newer than what was made of them; it need not be made again.
NO_AUTOTOOLS = {name: ":" for name in ("ACLOCAL", "AUTOCONF", "AUTOHEADER", "AUTOMAKE", "MAKEINFO")}

PACKAGES = [
    {
        "name": "bzip2",
        "source": "bzip2",
        "build": "$CC $CFLAGS -D_FILE_OFFSET_BITS=64 blocksort.c huffman.c crctable.c randtable.c"
        " compress.c decompress.c bzlib.c bzip2.c -o measured",
        "workloads": {
            "compress": "./measured -c {big} > /dev/null",
            "decompress": "./measured -dc {big}.bz2 > /dev/null",
        },
        "prepare": "./measured -kf {big}",
        "small": "./measured -c {small} > /dev/null",
        "startup": "./measured --help > /dev/null 2>&1",
    },
    {
        "name": "gzip",
        "source": "gzip",
        "build": "./configure --quiet CC=\"$CC\" CFLAGS=\"$CFLAGS\" > /dev/null && make -s -C lib > /dev/null"
        " && make -s version.c version.h gzip > /dev/null"
        " && cp gzip measured",
        "workloads": {
            "compress": "./measured -c {big} > /dev/null",
            "decompress": "./measured -dc {big}.gz > /dev/null",
        },
        "prepare": "./measured -kf {big}",
        "small": "./measured -c {small} > /dev/null",
        "startup": "./measured --version > /dev/null",
    },
    {
        "name": "zlib",
        "source": "zlib",
        "build": "$CC $CFLAGS -DHAVE_UNISTD_H -DHAVE_HIDDEN -I. adler32.c compress.c crc32.c deflate.c"
        " gzclose.c gzlib.c gzread.c gzwrite.c infback.c inffast.c inflate.c inftrees.c trees.c"
        " uncompr.c zutil.c test/minigzip.c -o measured",
        "workloads": {
            "compress": "./measured < {big} > /dev/null",
            "decompress": "for i in 1 2 3 4 5 6; do ./measured -d < {big}.gz > /dev/null; done",
        },
        "prepare": "./measured < {big} > {big}.gz",
        "small": "./measured < {small} > /dev/null",
        "startup": "./measured < /dev/null > /dev/null",
    },
    {
        "name": "lua5.4",
        "source": "lua5.4",
        # Debian's luaconf.h asks for a header with the multiarch directory.
        "before": "echo '#define DEB_HOST_MULTIARCH \"none\"' > src/lua5.4-deb-multiarch.h",
        "build": "cd src && $CC $CFLAGS -DLUA_USE_POSIX -DLUA_COMPAT_5_3"
        " $(ls *.c | grep -v '^luac.c$') -lm -o ../measured",
        "workloads": {
            "fibonacci": "./measured -e 'local function f(n) if n < 2 then return n end"
            " return f(n-1) + f(n-2) end print(f(31))' > /dev/null",
            "strings": "./measured -e 'local t = {} for i = 1, 300000 do t[#t+1] ="
            " tostring(i):rep(3) end print(table.concat(t):gsub(\"1\", \"one\"))' > /dev/null",
        },
        "small": "echo 'print(#arg, 1 + 2)' | ./measured - > /dev/null",
        "startup": "./measured -v > /dev/null",
    },
    {
        "name": "sqlite3",
        "source": "sqlite3",
        # The amalgamation has to be made first; it is the same for every compiler.
        "before": "./configure --quiet --disable-tcl > /dev/null && make -s sqlite3.c shell.c > /dev/null",
        "build": "$CC $CFLAGS -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION shell.c sqlite3.c"
        " -lm -o measured",
        "workloads": {
            "insert and sort": "./measured :memory: 'create table t(a,b); with recursive c(x) as (select 1"
            " union all select x+1 from c where x < 60000) insert into t select x, hex(x*7919%10007)"
            " from c; create index i on t(b); select count(*), max(b) from t group by a%7 order by 2;'"
            " > /dev/null",
        },
        "small": "echo 'select 1+2, upper(\"x\");' | ./measured > /dev/null",
        "startup": "./measured -version > /dev/null",
    },
    {
        "name": "bc",
        "source": "bc",
        "build": "./configure --quiet CC=\"$CC\" CFLAGS=\"$CFLAGS\" > /dev/null && make -s -C lib > /dev/null && make -s -C bc > /dev/null"
        " && cp bc/bc measured",
        "workloads": {"pi": "echo 'scale=700; 4*a(1)' | ./measured -l > /dev/null"},
        "small": "echo '2^20 + 7/3' | ./measured > /dev/null",
        "startup": "echo | ./measured > /dev/null",
    },
]
