module dtrace

go 1.19
