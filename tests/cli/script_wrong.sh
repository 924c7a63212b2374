# shellcheck shell=bash
# Typical mistakes of newcomers. The message of synth must be sufficient to correct them.
wrong() {
    printf '# %s\n' "$1"
    printf '%b' "$2" >script
    gotrace synth -o trace script 2>&1
    printf '=> %d\n' $?
}
new='Trace Go1.26 level=meaning\n'
old='Trace Go1.21 level=meaning\n'
jsonl='{"trace":"go 1.26","level":"meaning"}\n'

# The header.
wrong 'no header' 'GoStart t=1 g=1\n'
wrong 'header in lower case' 'trace go1.26 level=meaning\n'
wrong 'header with a space' 'Trace Go 1.26 level=meaning\n'
wrong 'version that is not known' 'Trace Go1.28 level=meaning\nGoStart t=1 g=1\n'
wrong 'header without a level' 'Trace Go1.26\nGoStart t=1 g=1\nGoBlock t=2\n'
wrong 'header with a wrong level' 'Trace Go1.26 level=high\nGoStart t=1 g=1\n'
wrong 'header with a wrong field' 'Trace Go1.26 level=meaning gomaxprocs=4\nGoStart t=1 g=1\n'
wrong 'header with a unit' 'Trace Go1.26 level=meaning frequency=1GHz\nGoStart t=1 g=1\n'

# Names.
wrong 'event with a typing error' "${new}GoUnblok t=1 g=1\n"
wrong 'event in lower case' "${new}goblock t=1\n"
wrong 'event of the other format' "${new}GoStart t=1 g=1\nGoEnd t=2\n"
wrong 'event of earlier versions' "${new}GoBlockRecv t=1\n"
wrong 'event of later versions' "${old}GoSyscallEnd t=1\n"
wrong 'event that is none' "${new}ChannelSend t=1 g=1\n"
wrong 'record as an event' "${new}String id=1\n\tdata=\"main.main\"\n"
wrong 'argument with a shorter name' "${new}UserTaskBegin t=1 task=1 name=\"request\"\n"
wrong 'argument of level raw' "${new}GoStart dt=5 g=1 g_seq=1\n"
wrong 'time under another name' "${new}GoStart time=1000 g=1\n"
wrong 'argument of an event that has none' "${new}GoDestroy t=1 reason=\"done\"\n"

# Values.
wrong 'time with a unit' "${new}GoStart t=1ms g=1\n"
wrong 'time with an exponent' "${new}GoStart t=1.5e3 g=1\n"
wrong 'time with a thousands separator' "${new}GoStart t=1,000 g=1\n"
wrong 'time before 0' "${new}GoStart t=-5 g=1\n"
wrong 'name for a number' "${new}GoStart t=1 g=main\n"
wrong 'goroutine with a letter' "${new}GoStart t=1 g=G7\n"
wrong 'string without quotes' "${new}GoBlock t=1 reason_string=chan receive\n"
wrong 'string in single quotes' "${new}GoBlock t=1 reason_string='chan receive'\n"
wrong 'string without an end' "${new}GoBlock t=1 reason_string=\"chan receive\n"
wrong 'Windows path in a frame' "${new}GoBlock t=1 stack=\"main.f C:\\\\\\\\work\\\\\\\\main.go:5\" reason_string=\"C:\\\\work\"\n"
wrong 'frame without a file' "${new}GoBlock t=1 stack=\"main.main:12\"\n"
wrong 'frame without a function' "${new}GoBlock t=1 stack=\"/src/main.go:12 @0x10\"\n"
wrong 'frame without a line' "${new}GoBlock t=1 stack=\"main.main /src/main.go\"\n"
wrong 'state that is none' "${new}GoStatus t=1 g=1 gstatus=blocked\n"
wrong 'no time' "${new}GoStart g=1\n"
wrong 'no goroutine' "${new}GoStart t=1\n"
wrong 'spaces around =' "${new}GoStart t = 1 g = 1\n"
wrong 'argument twice' "${new}GoStart t=1 g=1 g=2\n"
wrong 'colons for =' "${new}GoStart t:1 g:1\n"

# Impossible events.
wrong 'two goroutines on a proc' "${new}GoCreate t=1 g=1 new_g=7\n\tnew_stack=\"main.worker\"\nGoStart t=2 g=7\n"
wrong 'the same on another proc, in Go 1.21' "${old}GoStart t=1 p=2 g=5\nGoStart t=2 p=2 g=7\n"
wrong 'start of what is blocked' "${new}GoStart t=1 g=7\nGoBlock t=2\nGoStart t=3 g=7\n"
wrong 'unblocking what runs' "${new}GoStart t=1 g=7\nGoUnblock t=2 p=1 g=7\n"
wrong 'start of what has ended' "${old}GoStart t=1 g=7\nGoEnd t=2\nGoStart t=3 g=7\n"
wrong 'creation of what is there' "${new}GoCreate t=1 g=1 new_g=7\nGoCreate t=2 new_g=7\n"
wrong 'goroutine that runs on another proc' "${new}GoStart t=1 p=1 g=7\nGoBlock t=2 p=0 g=7\n"
wrong 'block where nothing runs' "${new}GoStart t=1 g=7\nGoBlock t=2\nGoBlock t=3\n"
wrong 'times out of order' "${new}GoStart t=2000 g=7\nGoBlock t=1000\n"
wrong 'regions that overlap' "${new}UserRegionBegin t=1 g=1 name_string=\"a\"\nUserRegionBegin t=2 name_string=\"b\"\nUserRegionEnd t=3 name_string=\"a\"\n"
wrong 'the same in Go 1.21' "${old}UserRegion t=1 g=1 taskid=1 mode=0 typeid=\"a\"\nUserRegion t=2 taskid=1 mode=0 typeid=\"b\"\nUserRegion t=3 taskid=1 mode=1 typeid=\"a\"\n"
wrong 'task twice' "${new}UserTaskBegin t=1 g=1 task=1 name_string=\"a\"\nUserTaskBegin t=2 task=1 name_string=\"b\"\n"
wrong 'GC that ends twice' "${new}GCBegin t=1 g=1\nGCEnd t=2\nGCEnd t=3\n"
wrong 'return without a system call' "${new}GoStart t=1 g=1\nGoSyscallEnd t=2\n"
wrong 'proc that starts twice' "${new}ProcStart t=1 m=1 p=3\nProcStart t=2 m=2 p=3\n"
wrong 'two procs on a thread' "${new}ProcStart t=1 m=1 p=3\nProcStart t=2 m=1 p=4\n"
wrong 'goroutine from nowhere in the second generation' "${new}Sync t=0\nGoStart t=1 g=1\nSync t=2\nGoUnblock t=3 g=9\n"

# JSON.
wrong 'JSON with single quotes' "{'trace':'go 1.26'}\n"
wrong 'JSON without a comma' "${jsonl}{\"event\":\"GoStart\" \"t\":1,\"g\":1}\n"
wrong 'JSON Lines over several lines' "${jsonl}{\n  \"event\": \"GoStart\",\n  \"t\": 1\n}\n"
wrong 'name of the event under another key' "${jsonl}{\"name\":\"GoStart\",\"t\":1,\"g\":1}\n"
wrong 'time with a unit in JSON' "${jsonl}{\"event\":\"GoStart\",\"t\":\"1ms\",\"g\":1}\n"
wrong 'goroutine in quotes that is no number' "${jsonl}{\"event\":\"GoStart\",\"t\":1,\"g\":\"main\"}\n"
wrong 'records for events' '{"trace":"go 1.26","level":"meaning","records":[]}\n'
wrong 'version without go' '{"trace":"1.26","events":[]}\n'
wrong 'wrong argument in a document' '{\n  "trace": "go 1.26",\n  "level": "meaning",\n  "events": [\n    {"event": "GoStart", "t": 1, "g": 1},\n    {"event": "GoBlock", "t": 2,\n     "reason": "select"}\n  ]\n}\n'
wrong 'comma at the end of a list' '{"trace":"go 1.26","level":"meaning","events":[\n{"event":"GoStart","t":1,"g":1},\n]}\n'

# CBOR: a map for the header, then events.
cbor='\0243\0145trace\0147go 1.26\0145level\0147meaning\0146events\0237'
wrong 'CBOR with a wrong argument' "${cbor}\0244\0145event\0147GoStart\0141t\01\0141g\01\0141x\01\0377"
wrong 'CBOR with a wrong value' "${cbor}\0243\0145event\0147GoStart\0141t\01\0141g\0144main\0377"
wrong 'CBOR that is cut off' "${cbor}\0243\0145event\0147GoStart\0141t"

# Files that are not scripts.
wrong 'nothing' ''
wrong 'only comments' '# to be written\n'
wrong 'a trace' 'go 1.26 trace\0\0\0'
wrong 'UTF-16' '\0377\0376T\0r\0a\0c\0e\0'
wrong 'gzip' '\037\0213\010\0\0\0\0\0\0\03'
wrong 'a table' 'event,t,g\nGoStart,1,1\n'
wrong 'YAML' 'trace: go 1.26\nevents:\n  - event: GoStart\n'
[ ! -e trace ] || echo 'something was written'
