#!/usr/bin/env bash
# The command line tool, from outside: outputs, messages, exit statuses. PANDO_BIN is the folder of the tools.
set -uo pipefail
pando=${PANDO_BIN:?the folder of the tools}/pando
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
popc=${PANDO_POPC:?the codelet compiler}
data=$here/../data/minimalloc
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
checks=0

# check NAME STATUS PATTERN COMMAND...: runs it; its status must be STATUS and its stdout or stderr must hold PATTERN.
check() {
  local name=$1 status=$2 pattern=$3 got
  shift 3
  checks=$((checks + 1))
  "$@" >"$scratch/out" 2>"$scratch/err" </dev/null
  got=$?
  # What is wrong is said by name: "pando report: ...".
  if [[ $status -eq 2 && $1 == "$pando" ]] && ! head -1 "$scratch/err" | grep -qE '^pando( [a-z]+(-[a-z]+)*){0,2}: '; then
    failures=$((failures + 1))
    echo "FAILED: $name: the message does not begin with the command: $(head -1 "$scratch/err")"
  fi
  if [[ $got -ne $status ]] || { [[ -n $pattern ]] && ! grep -qE -- "$pattern" "$scratch/out" "$scratch/err"; }; then
    failures=$((failures + 1))
    echo "FAILED: $name: status $got, expected $status and /$pattern/"
    sed 's/^/    /' "$scratch/out" "$scratch/err" | head -20
  fi
  # Numbers and nouns agree.
  local wrong
  if wrong=$(grep -hoE '(^|[^-] |[(])1 (buffers|devices|elements|inputs|layers|messages|microbatches|nodes|ops|pieces|ranks|replicas|rows|runs|samples|stages|steps|tiles|variables)( |,|:|;|\.|$)' \
    "$scratch/out" "$scratch/err"); then
    failures=$((failures + 1))
    echo "FAILED: $name: it says '$(head -1 <<<"$wrong")'"
  fi
}

# expect NAME GOT WANTED
expect() {
  checks=$((checks + 1))
  [[ $2 == "$3" ]] && return
  failures=$((failures + 1))
  printf 'FAILED: %s\n  got:      %s\n  expected: %s\n' "$1" "$2" "$3"
}

table() { printf '%s\n' "$@" >"$scratch/in.csv"; }
allocate() { "$pando" allocate "$scratch/in.csv" --capacity "$@"; }

# --- the tool itself
check "version" 0 '^.*pando [0-9]+\.[0-9]+\.[0-9]+$' "$pando" --version
case $(uname -m) in
  x86_64)
    check "version: vectors" 0 '^  level  .*\(PANDO_VECTORS=ssse3\)$' env PANDO_VECTORS=ssse3 "$pando" --version
    check "version: unknown vectors" 0 'PANDO_VECTORS=avx3 does not count: ssse3, avx2 or avx512 was expected' env PANDO_VECTORS=avx3 "$pando" --version
    ;;
esac
check "help" 0 'allocate' "$pando" --help
check "no command" 0 "^Look into programs:" "$pando"
check "help" 0 "^Look into programs:" "$pando" help
check "help of a command" 0 "^Usage: pando search" "$pando" help search
check "help of an unknown command" 2 "^pando: there is no command 'reprot'; the nearest is report$" "$pando" help reprot
check "unknown command" 2 "^pando: there is no command 'paint'$" "$pando" paint
check "misspelt command" 2 "^pando: there is no command 'reprot'; the nearest is report$" "$pando" reprot x y
check "misspelt command, and its help" 2 "^pando: there is no command 'mesure'; the nearest is measure$" "$pando" mesure --help
expect "misspelt command, and its help: nothing is printed" "$(cat "$scratch/out")" ""
check "unknown option" 2 "^pando manual: there is no option '--red'; there are --help$" "$pando" manual --red
check "misspelt option" 2 "^pando search: there is no option '--devises'; the nearest is --devices$" "$pando" search gpt2 --devises=4 --batch 8
check "misspelt option of a program beside" 2 "^pando run: there is no option '--rank'; the nearest is --ranks$" "$pando" run x.txt --rank=2
check "misspelt option of the repl" 2 "^pando repl: there is no option '--tile'; the nearest is --tiles$" "$pando" repl --tile 2
check "a word too many" 2 "^pando machines: 'red' is one word too many$" "$pando" machines h100 red
check "an unknown machine" 2 "no machine 'red'; there are: a100-40" "$pando" machines red
check "a family of machines" 2 "no machine 'a100'; the nearest are a100-40, a100-80; there are: " "$pando" machines a100
check "a machine's name without its end" 2 "no machine 'mi300'; the nearest is mi300x; there are: " "$pando" machines mi300
check "misspelt value" 2 "'grph': one of model, graph, plan, tile is expected; the nearest is graph$" "$pando" dump --level grph -- true
check "a command of a command" 2 "^pando jupyter: there is no command 'instal'; the nearest is install$" "$pando" jupyter instal
check "no command of a command" 2 "^pando jupyter: a command is required: install$" "$pando" jupyter
check "a command of a program beside" 2 "^pando measure: there is no command 'ipu'; the nearest is ipus$" "$pando" measure ipu
for pair in model:training-step project:pipeline import:convert; do
  expect "an earlier name: ${pair%:*}" "$("$pando" "${pair%:*}" --help)" "$("$pando" "${pair#*:}" --help)"
done

# --- completion and the manual page
check "completion: no such shell" 2 "'ksh': one of bash, fish, zsh is expected" "$pando" completion ksh
"$pando" completion bash >"$scratch/completion.bash"
# complete_line WORD...: what bash offers for the last word.
complete_line() {
  (
    # shellcheck disable=SC1091
    source "$scratch/completion.bash"
    COMP_WORDS=(pando "$@") COMP_CWORD=$#
    _pando
    echo "${COMPREPLY[*]}"
  )
}
expect "completion: commands" "$(complete_line re)" "report repl"
expect "completion: all commands" "$(complete_line '' | tr ' ' '\n' | sort | tr '\n' ' ')" "$("$pando" --help | sed -nE 's/^  ([a-z-]+) .*/\1/p' | grep -v '^-' | sort | tr '\n' ' ')"
expect "completion: options" "$(complete_line report --ex)" "--export --execution-steps"
expect "completion: values" "$(complete_line dump --level g)" "graph"
expect "completion: values behind =" "$(complete_line dump --level = p)" "plan"
expect "completion: a part" "$(complete_line training-step '')" "mlp gpt sizes"
expect "completion: options of a part, by an earlier name" "$(complete_line model gpt --ada)" "--adam"
expect "completion: a program beside" "$(complete_line run --ti)" "--tiles --timeout --times"
expect "completion: a part of a program beside" "$(complete_line measure host --se)" "--seconds"
expect "completion: files" "$(complete_line view prof)" ""
for shell in zsh fish; do
  "$pando" completion "$shell" >"$scratch/completion"
  check "completion: $shell has every command" 0 "^pando=$("$pando" --help | grep -cE '^  [a-z]')$" \
    bash -c "echo pando=\$(grep -cE \"^ +'[a-z-]+:|__fish_use_subcommand -a\" '$scratch/completion')"
  if command -v "$shell" >/dev/null; then check "completion: $shell reads it" 0 '' "$shell" -n "$scratch/completion"; fi
done
"$pando" manual >"$scratch/pando.1"
check "manual: a section for each group" 0 '^\.SS Look into programs' cat "$scratch/pando.1"
expect "manual: every command" "$(grep -cE '^\.SS pando [a-z\\-]+$' "$scratch/pando.1")" "$("$pando" --help | grep -cE '^  [a-z]')"
if command -v groff >/dev/null; then
  expect "manual: groff has nothing to say" "$(groff -man -ww -Tutf8 -z "$scratch/pando.1" 2>&1 | grep -v "can't break line" | head -3)" ""
fi

# --- machines
check "machines" 0 'ipu2 +1 +1472 +6 +624 KiB' "$pando" machines
check "machine verify: what constants were fitted on is apart" 0 'fitted: constants .*published' "$pando" machine verify
check "machine verify: a row" 0 'sync of a blur iteration, 16 IPUs, Mk1 +501 to 642 +570' "$pando" machines verify

# --- allocate: good
table id,lower,upper,size a,0,2,4 b,1,3,4 c,2,4,4
check "allocate: fits exactly" 0 'solved: 3 buffers, highest end 8 of 8 bytes, [0-9]+ nodes' allocate 8 -o "$scratch/out.csv"
expect "allocate: header" "$(head -1 "$scratch/out.csv")" "id,lower,upper,size,offset"
expect "allocate: rows are kept" "$(cut -d, -f1-4 "$scratch/out.csv" | tail -n +2 | tr '\n' ' ')" "a,0,2,4 b,1,3,4 c,2,4,4 "
expect "allocate: standard output" "$(allocate 8 2>/dev/null)" "$(cat "$scratch/out.csv")"
rm -f "$scratch/out.csv"
check "allocate: one byte too few" 1 'infeasible: 3 buffers, most live at once 8 of 7 bytes' allocate 7 -o "$scratch/out.csv"
expect "allocate: nothing is written then" "$(ls "$scratch"/out.csv 2>/dev/null)" ""
table size,id,upper,lower,alignment,lowest,highest_end,fixed 4,a,2,0,8,16,,
check "allocate: columns in any order, bounds" 0 '^.*4,a,2,0,8,16,,,16$' allocate 20
table id,lower,upper,size,fixed a,0,2,4, b,0,2,4,2
check "allocate: fixed" 0 'b,0,2,4,2,2' allocate 10
printf 'id,lower,upper,size\r\na,0,2,4\r\n' >"$scratch/in.csv"
expect "allocate: line ends of another system" "$(allocate 4 2>/dev/null | tail -1)" "a,0,2,4,0"
table id,lower,upper,size
expect "allocate: no rows" "$(allocate 4 2>/dev/null)" "id,lower,upper,size,offset"
check "allocate: gives up after its nodes" 1 'gave up: 213 buffers, .* 10 nodes' \
  "$pando" allocate "$data/D.1048576.csv" --capacity 1048576 --nodes 10
for name in A B C D E F; do
  check "allocate: instance $name" 0 'solved' "$pando" allocate "$data/$name.1048576.csv" --capacity 1048576 -o "$scratch/$name.csv"
  # No two rows overlap in time and memory; none passes the capacity.
  expect "allocate: instance $name is valid" "$(awk -F, 'NR > 1 {
      b[n] = $2; e[n] = $3; o[n] = $5; t[n] = $5 + $4; n++; if ($5 + $4 > 1048576) bad++ }
    END { for (i = 0; i < n; i++) for (j = 0; j < i; j++) if (b[i] < e[j] && b[j] < e[i] && o[i] < t[j] && o[j] < t[i]) bad++
          print n, bad + 0 }' "$scratch/$name.csv")" "$(($(wc -l <"$data/$name.1048576.csv") - 1)) 0"
done
"$pando" allocate "$data/E.1048576.csv" --capacity 1048576 2>/dev/null | cmp -s - "$scratch/E.csv"
expect "allocate: the same result again" $? 0

# --- allocate: bad input
check "allocate: no file" 2 'cannot read .*none.csv: No such file' "$pando" allocate "$scratch/none.csv" --capacity 8
check "allocate: no capacity" 2 'capacity is required' "$pando" allocate "$scratch/in.csv"
check "allocate: capacity is not a number" 2 'capacity' allocate many
check "allocate: negative capacity" 2 'capacity' allocate -5
: >"$scratch/in.csv"
check "allocate: empty file" 2 'in.csv: empty; expected a first line such as id,lower,upper,size .empty-table' allocate 8
table id,lower,upper a,0,2
check "allocate: missing column" 2 "in.csv:1: no column 'size'" allocate 8
table id,lower,upper,size,color a,0,2,4,red
check "allocate: unknown column" 2 "in.csv:1: unknown column 'color'; known are id, lower" allocate 8
table id,lower,upper,size,size a,0,2,4,4
check "allocate: repeated column" 2 "in.csv:1: column 'size' comes twice" allocate 8
table id,lower,upper,size a,0,2,4 b,0,2
check "allocate: short row" 2 'in.csv:3: 3 cells; expected 4' allocate 8
table id,lower,upper,size a,0,2,4 b,0,2,4,5
check "allocate: long row" 2 'in.csv:3: 5 cells; expected 4' allocate 8
table id,lower,upper,size a,0,2,4 a,0,2,4
check "allocate: repeated id" 2 "in.csv:3: id 'a' was used in line 2" allocate 8
table id,lower,upper,size a,0,2,four
check "allocate: not a number" 2 "in.csv:2: size is 'four'; expected a number" allocate 8
table id,lower,upper,size a,0,2,-4
check "allocate: negative size" 2 "in.csv:2: size is '-4'; expected a number without sign" allocate 8
table id,lower,upper,size a,0,2,4.5
check "allocate: fraction" 2 "in.csv:2: size is '4.5'" allocate 8
table id,lower,upper,size a,0,2,99999999999999999999
check "allocate: too large" 2 "in.csv:2: size is '9+'; expected at most" allocate 8
table id,lower,upper,size a,2,2,4
check "allocate: empty interval" 2 'in.csv:2: live in .2, 2.; expected lower < upper' allocate 8
table id,lower,upper,size,alignment a,0,2,4,0
check "allocate: zero alignment" 2 'in.csv:2: alignment is 0' allocate 8
table id,lower,upper,size a,0,2,4
check "allocate: output cannot be written" 2 'cannot write .*no/out.csv' allocate 8 -o "$scratch/no/out.csv"

check "allocate: capacity with a unit" 0 'solved: .* of 10240 bytes' allocate 10KiB
check "allocate: capacity with a unit that is unknown" 2 "'10XB': a whole number from 0 to 9223372036854775807 is expected" allocate 10XB
check "allocate: capacity that no number of 64 bits is" 2 "'99999999999999999999999': a whole number from 0" allocate 99999999999999999999999
printf '\033]0;title\007\233,\303\244\n' >"$scratch/in.csv"
check "allocate: what a terminal would obey is escaped" 2 "in.csv:1: unknown column '.x1b]0;title.x07.x9b'; known are" allocate 8

# --- outputs: whole, or as they were. 1 KiB is all that a file may have.
on_a_full_disk() { (trap '' XFSZ; ulimit -f 1; exec "$@"); }
mkdir "$scratch/outputs"
echo old >"$scratch/outputs/old.txt"
chmod 640 "$scratch/outputs/old.txt"
check "outputs: a full disk" 2 'cannot write .*old.txt: File too large' on_a_full_disk "$pando" model gpt -o "$scratch/outputs/old.txt"
expect "outputs: the old file is whole" "$(cat "$scratch/outputs/old.txt")" old
check "outputs: a full disk, and no file yet" 2 'cannot write .*new.txt: File too large' on_a_full_disk "$pando" model gpt -o "$scratch/outputs/new.txt"
check "outputs: a full disk, and a picture" 2 'cannot write .*new.svg: File too large' \
  on_a_full_disk "$pando" schedule --name 1F1B --ranks 4 --microbatches 8 --svg "$scratch/outputs/new.svg"
expect "outputs: nothing else is left" "$(ls -A "$scratch/outputs")" old.txt
"$pando" model mlp -o "$scratch/outputs/old.txt"
expect "outputs: the mode is kept" "$(stat -c %a "$scratch/outputs/old.txt")" 640
expect "outputs: it is written" "$(cat "$scratch/outputs/old.txt")" "$("$pando" model mlp)"
ln -s old.txt "$scratch/outputs/link.txt"
"$pando" model gpt -o "$scratch/outputs/link.txt"
expect "outputs: a link stays one" "$(readlink "$scratch/outputs/link.txt"; cat "$scratch/outputs/old.txt")" "old.txt
$("$pando" model gpt)"
expect "outputs: a device" "$("$pando" model gpt -o /dev/stdout | cat)" "$("$pando" model gpt)"

# --- standard output: what is printed arrives, or the status says that it did not
to_full() { "$@" >/dev/full; }
to_nothing() { "$@" >&-; }
to_nobody() { (trap '' PIPE; while [ ! -e "$scratch/gone" ]; do sleep 0.01; done; exec "$@") | (exec <&-; touch "$scratch/gone"); local status=${PIPESTATUS[0]}; rm "$scratch/gone"; return "$status"; }
"$pando" model mlp --batch 4 -o "$scratch/step.txt"
placed=$here/../data/simulate/data_parallel.txt
while read -r name words; do
  # shellcheck disable=SC2086
  check "standard output is full: $name" 2 "^pando( $name( [a-z]+)?)?: cannot write to standard output: No space left on device( .unwritable-file.)?$" to_full "$pando" $name $words
  expect "standard output is full: $name, said once" "$(wc -l <"$scratch/err")" 1
  # shellcheck disable=SC2086
  check "standard output: who reads has gone: $name" 0 '' to_nobody "$pando" $name $words
  expect "standard output: nothing is said then: $name" "$(cat "$scratch/err")" ""
  # shellcheck disable=SC2086
  check "standard output is closed: $name" 2 "^pando( $name( [a-z]+)?)?: cannot write to standard output: Bad file descriptor( .unwritable-file.)?$" to_nothing "$pando" $name $words
done <<COMMANDS
--help
--version
machines
completion bash
manual
options
training-step gpt
schedule --name 1F1B --ranks 2 --microbatches 2
schedule --name 1F1B --ranks 64 --microbatches 256 --draw
simulate $placed --machine bow-pod
search gpt2 --machine selene --devices 4 --batch 8 --quiet
transform $scratch/step.txt --batch x,z --data 2 --summary
project $here/../golden/project/note.txt --policy delay --draw 3 -q
run $scratch/step.txt --seed 1 --zeros n
report $here/report.json
repl --tiles 4 -c print(1)
shell --tiles 4 -c help
measure program $placed
COMMANDS
check "standard output is closed: calibrate" 2 'cannot write to standard output: Bad file descriptor|\[host-too-busy\]' to_nothing "$pando" calibrate --seconds 0.5
check "standard output is full: popc" 2 '^popc: cannot write to standard output: No space left on device$' to_full "$popc" --list-targets

# --- options
check "options" 0 'pando.prefetchTiles. \| true, false' "$pando" options
expect "options: the page in docs" "$(sed -n '/^| option/,$p' "$here/../../docs/level/options.md")" "$("$pando" options)"

# --- report
check "report" 0 'ipu2' "$pando" report "$here/report.json"
check "report: all sections" 0 'ipu0.compute' "$pando" report --execution-steps --var-storage --per-ipu-memory "$here/report.json"
"$pando" report "$here/report.json" --svg "$scratch/report.svg" >/dev/null
check "report: drawn" 0 'Memory by tile' cat "$scratch/report.svg"
check "report: a picture that cannot be written" 2 'nowhere' "$pando" report "$here/report.json" --svg "$scratch/nowhere/report.svg"
check "report: no file" 2 'cannot read' "$pando" report "$scratch/none.json"
head -c 100 "$here/report.json" >"$scratch/cut.json"
check "report: cut short" 2 'cut.json: profile report: not JSON at byte 101 .report-not-json.' "$pando" report "$scratch/cut.json"
echo '[1, 2]' >"$scratch/other.json"
check "report: other JSON" 2 '\[[a-z-]+\]' "$pando" report "$scratch/other.json"

# --- dump: what the program is told, and what becomes of its output
cat >"$scratch/program" <<'PROGRAM'
#!/usr/bin/env bash
echo "own output: $*"
echo "level $PANDO_DUMP_LEVEL tile ${PANDO_DUMP_TILE-all}" >"$PANDO_DUMP_FILE"
exit "${STATUS:-0}"
PROGRAM
chmod +x "$scratch/program"
expect "dump: after the program's output" "$("$pando" dump --level=graph -- "$scratch/program" --level=3 x | tr '\n' '|')" \
  "own output: --level=3 x|level graph tile all|"
expect "dump: to a file" "$("$pando" dump --level=tile --tile=17 -o "$scratch/dump.txt" -- "$scratch/program" | tr '\n' '|')" "own output: |"
expect "dump: the file" "$(cat "$scratch/dump.txt")" "level tile tile 17"
expect "dump: no tile of the caller's" "$(PANDO_DUMP_TILE=3 "$pando" dump --level=graph -- "$scratch/program" | tail -1)" "level graph tile all"
expect "dump: between the compiler's passes" "$("$pando" dump --level=plan -- "$scratch/program" | tail -1)" "level plan tile all"
STATUS=7 check "dump: the program's status" 7 'level graph' "$pando" dump --level=graph -- "$scratch/program"
check "dump: killed" 143 'dumped nothing' "$pando" dump --level=graph -- bash -c 'kill -TERM $$'
check "dump: nothing dumped" 1 'true dumped nothing: it compiled no graph' "$pando" dump --level=graph -- true
check "dump: no program of this name" 2 'cannot run none-such: no folder of PATH has a program of this name' "$pando" dump --level=graph -- none-such
check "dump: a file that is none" 2 'garbage is not an executable file: it begins with neither PANDEXE1 nor PANDOTIL .no-executable' \
  bash -c 'echo garbage >"$1/garbage"; cd "$1"; "$2" dump --level=tile garbage' - "$scratch" "$pando"
check "dump: a program without --" 2 'program is not an executable file: .*; a program follows --: pando dump --level=graph -- .*program' \
  "$pando" dump --level=graph "$scratch/program"
check "dump: a folder" 2 'cannot read dir: it is a folder' bash -c 'mkdir "$1/dir"; cd "$1"; "$2" dump --level=tile dir' - "$scratch" "$pando"
check "dump: a tile that no number is" 2 "'99999999999': a whole number from 0 to 4294967295" "$pando" dump --level=tile --tile=99999999999 -- true
check "dump: no such program" 2 'cannot run .*none: No such file' "$pando" dump --level=graph -- "$scratch/none"
check "dump: no program" 2 'program is required' "$pando" dump --level=graph
check "dump: no level" 2 'level is required' "$pando" dump -- true
check "dump: unknown level" 2 'level' "$pando" dump --level=moon -- true
check "dump: tile is not a number" 2 'tile' "$pando" dump --level=tile --tile=first -- true
printf 'PANDOTIL and then nothing that makes sense' >"$scratch/broken"
check "dump: broken executable" 2 '\[[a-z-]+\]' "$pando" dump --level=tile "$scratch/broken"
check "dump: an executable has no graph" 2 'holds the tile level only' "$pando" dump --level=graph "$scratch/broken"

# --- simulate, search, calibrate
placed=$here/../data/simulate/data_parallel.txt
check "transform: a program that is distributed already" 2 '\[devices\]' "$pando" transform "$placed" --microbatches 2
check "simulate: a placed program" 0 '^3 devices, 18 steps \([0-9]+ run one by one\): ' "$pando" simulate "$placed" --machine bow-pod
expect "simulate: folded is unfolded" "$("$pando" simulate "$placed" --machine bow-pod | tail -n +2)" "$("$pando" simulate "$placed" --machine bow-pod --unfolded | tail -n +2)"
check "simulate: the reference's costs" 0 'MatMul$' "$pando" simulate "$placed" --cost reference --ops
check "simulate: costs of plans" 0 '^3 devices, ' "$pando" simulate "$placed" --cost plans --machine ipu2:64
check "simulate: compiled costs" 0 'priced by what was compiled: 8 ops in [0-9] distinct pieces' "$pando" simulate "$placed" --cost compiled --machine ipu2:16
check "simulate: compiled costs need a compiler" 2 "'bow-pod' is neither .cost-compiled." "$pando" simulate "$placed" --cost compiled --machine bow-pod
check "simulate: plans need tiles" 2 '\[cost-plans\]' "$pando" simulate "$placed" --cost plans --machine bow-pod
check "simulate: a report" 0 '3 devices' "$pando" simulate "$placed" --report "$scratch/plan.pando"
check "simulate: messages of its report" 0 'scatter_across +device 0 +device 1 +1 +4,096' "$pando" report "$scratch/plan.pando" --ask messages
check "simulate: where inputs lie" 0 'w +weights +float32\(32, 32\)' "$pando" report "$scratch/plan.pando" --ask placement
cp "$scratch/plan.pando" "$scratch/ran.pando"
check "simulate: a prediction in a report" 0 '3 devices' "$pando" simulate "$placed" --machine ipu2:64 --into "$scratch/ran.pando"
check "simulate: predicted and modelled clock" 0 'predicted +[0-9.]+ +[0-9.]+ +predicted for ipu2:64|predicted for ipu2:64' "$pando" report "$scratch/ran.pando" --ask clocks
check "simulate: a report without a prediction says so" 0 'no_prediction +predictions are of programs at the model level' "$pando" report "$scratch/plan.pando" --ask clocks
check "simulate: what is not a report gets no prediction" 2 'not a report of Pando' "$pando" simulate "$placed" --into "$placed"
check "simulate: its report as a trace" 0 '"ph": "f"|"ph":"f"' "$pando" report "$scratch/plan.pando" --export perfetto
check "report: a step that is not there" 2 'no step has the order 99999; the last one has [0-9]+' "$pando" report "$here/report.json" --ask map=0@99999
check "report: a tile that is not there" 2 'there is no tile 99999; the report has [0-9]+ tiles?, numbered from 0' "$pando" report "$here/report.json" --ask map=99999
check "report: no names" 2 "expected how many names, from 1 to 99, found '0'" "$pando" report "$here/report.json" --ask operations=0
check "report: tiles have no plan" 0 'why_none +the report is of a program on tiles' "$pando" report "$here/report.json" --ask plan
check "report: cycles without a trace" 2 '--from is there without --trace or --export perfetto, which it is for' "$pando" report "$here/report.json" --from 9
check "report: a table without CSV" 2 '--table is there without --export csv' "$pando" report "$here/report.json" --table steps
check "report: a table of a format without tables" 2 "'dot' has no table, found 'steps'" "$pando" report "$here/report.json" --table steps --export dot
check "report: two kinds of answers" 2 'found --json and --ask or --tile: expected one of them' "$pando" report "$here/report.json" --json runs --ask runs
check "report: a comparison has no question" 2 'found --compare and --ask or --tile' "$pando" report "$here/report.json" --compare "$here/report.json" --tile 0
check "report: a comparison as JSON is whole" 2 "a comparison as JSON is --json all, found 'runs'" "$pando" report "$here/report.json" --compare "$here/report.json" --json runs
for option in ask json tile compare export trace table output svg; do
  check "report: --$option without a value" 2 "--$option: .*a text is expected, found an empty one" "$pando" report "$here/report.json" --$option ''
done
check "report: an export has no question" 2 'found --export and --ask' "$pando" report "$here/report.json" --export dot --ask runs
check "report: a trace that ends before it begins" 2 'found --from 9 --to 9' "$pando" report "$scratch/plan.pando" --trace "$scratch/trace.json" --from 9 --to 9
check "simulate: a trace" 0 '3 devices' "$pando" simulate "$placed" --trace "$scratch/trace.json" --chakra "$scratch/chakra"
check "simulate: the trace is JSON" 0 '"tid"' python3 -m json.tool "$scratch/trace.json"
check "simulate: traces for other simulators" 0 'all_reduce_across' cat "$scratch/chakra.1.et"
check "simulate: their groups" 0 '"2": .1, 2.' cat "$scratch/chakra.groups.json"
cat >"$scratch/unbound.txt" <<'MODULE'
module
graph main():
    a: float32[d0] = constant(data=float32()[1.0])
    b: float32[d0] = relu(a)
    return b
MODULE
check "simulate: a device variable that no pmap binds" 2 'device-variable' "$pando" simulate "$scratch/unbound.txt" --machine bow-pod
cat >"$scratch/twice.txt" <<'MODULE'
module
graph main():
    a: float32[0] = constant(data=float32()[1.0])
    b: float32[0] = relu(a)
    t: Tuple[float32[0], float32[0]] = make_tuple(a, b)
    u: Tuple[float32[0], float32[0]] = all_reduce_across(t, op="add")
    return u
MODULE
check "simulate: a group with a device twice" 2 'group-device' "$pando" simulate "$scratch/twice.txt" --machine bow-pod
check "simulate: an unknown machine" 2 "no machine 'abacus'; there are: " "$pando" simulate "$placed" --machine abacus
check "simulate: a strategy" 0 '^ *[0-9.]+ +[0-9.]+ +[0-9.]+  t=8 p=8 d=2 b=1$' "$pando" simulate --model gpt3-175b --machine selene --strategy "t=8 p=8 d=2" --batch 64
check "simulate: a strategy that does not fit says so" 0 '^pando simulate: note: it does not fit: [0-9.]+ GiB of [0-9.]+; pando memory says' \
  "$pando" simulate --model llama3-8b --machine h100 --strategy "d=2" --batch 8
check "simulate: a strategy against a rule" 1 'heads: 96 heads do not divide over t=7' "$pando" simulate --model gpt3-175b --machine selene --strategy "t=7" --batch 64
check "simulate: published measurements" 0 '^\| selene_steps \| 8 \| 8 ' "$pando" simulate --validate "$here/../data/distribution"
check "simulate: a folder without measurements" 2 "no table of measurements in '$scratch'" "$pando" simulate --validate "$scratch"
mkdir "$scratch/no_rows"
head -1 "$here/../data/distribution/selene_steps.csv" >"$scratch/no_rows/selene_steps.csv"
check "simulate: a table without rows" 2 'selene_steps.csv has no rows; leave the file out' "$pando" simulate --validate "$scratch/no_rows"
check "simulate: an option that would not count" 2 '\-\-ops: it takes a program' "$pando" simulate --model gpt2 --machine selene --strategy d=2 --batch 8 --ops
check "simulate: tiles without their fidelity" 2 '\-\-tiles: it takes --fidelity cycles' "$pando" simulate "$here/../data/simulate/data_parallel.txt" --tiles 5
: >"$scratch/empty.csv"
check "simulate: a table of no ops" 2 'empty.csv: there are no ops in it' "$pando" simulate "$here/../data/simulate/data_parallel.txt" --table "$scratch/empty.csv"
check "simulate: a folder is not a program" 2 'cannot read .*: it is a folder' "$pando" simulate "$scratch"
echo '{}' >"$scratch/empty.json"
check "simulate: a machine without a name" 2 'empty.json: the machine lacks name, half_operations' "$pando" simulate "$here/../data/simulate/data_parallel.txt" --machine "$scratch/empty.json"
check "simulate: two things at once" 2 'a program, --model and --validate exclude each other; one is expected' \
  "$pando" simulate "$placed" --validate "$here/../data/distribution"
check "simulate: a strategy needs a machine" 2 '\-\-machine .pando machines lists them. is required' \
  "$pando" simulate --model gpt2 --strategy "d=2" --batch 8
measured=$here/../data/distribution
check "fit: steps of Megatron-LM on A100, each left out in turn" 0 'of rows that were left out in turn' \
  "$pando" fit "$measured/selene_steps.csv" --machine a100-80 -o "$scratch/mine.json"
check "fit: a stack of one's own" 0 'pace' "$pando" search llama3-8b --machine a100-80 --stack "$scratch/mine.json" --devices 8 --batch 16 --quiet
printf 'model,gpus,step_s\nllama3-8b,8,1\n' >"$scratch/steps.csv"
check "fit: a row without its batch" 2 "steps.csv:2: neither 'global_batch' nor 'microbatches' is given" \
  "$pando" fit "$scratch/steps.csv" --machine h100
check "fit: no machine" 2 '\-\-machine .pando machines lists them. is required' "$pando" fit "$scratch/steps.csv"
check "search: a stack that is none" 2 'cannot read .*none.json' "$pando" search llama3-8b --machine h100 --stack "$scratch/none.json" --devices 8 --batch 16
check "simulate: nothing" 2 'a program, --model, or --validate DIR is required' "$pando" simulate
check "simulate: the cycle model is of tiles" 2 "fidelity cycles needs a machine with tiles, such as ipu2, not 'bow-pod'" \
  "$pando" simulate "$placed" --fidelity cycles --machine bow-pod
check "simulate: a word said twice" 2 "'t' is said twice" "$pando" simulate --model gpt2 --machine selene --strategy "t=2 t=4" --batch 8
check "schedule: a cost that is not a number" 2 "'nan': a number of 0 or more is expected" "$pando" schedule --name 1F1B --ranks 4 --microbatches 8 --forward nan
check "calibrate: a script for GPUs" 0 '' "$pando" calibrate --torch --like h100 --model gpt2 -o "$scratch/calibrate_gpu.py"
check "calibrate: it is Python" 0 '' python3 -c "import ast, sys; ast.parse(open(sys.argv[1]).read())" "$scratch/calibrate_gpu.py"
expect "calibrate: it has no hole" "$(grep -c '@[a-z]*@' "$scratch/calibrate_gpu.py")" 0
check "calibrate: no such machine" 2 "no machine 'abacus'" "$pando" calibrate --torch --like abacus
check "calibrate: no such model" 2 "no model and no file 'gpt5'" "$pando" calibrate --torch --model gpt5
check "calibrate: a machine to be like, without the script" 2 '\-\-like requires --torch' "$pando" calibrate --like h100
check "calibrate: a script that times steps" 0 '' "$pando" calibrate --steps -o "$scratch/steps_gpu.py"
check "calibrate: it is Python, too" 0 '' python3 -c "import ast, sys; ast.parse(open(sys.argv[1]).read())" "$scratch/steps_gpu.py"
check "calibrate: one script at a time" 2 '\-\-steps excludes --torch|\-\-torch excludes --steps' "$pando" calibrate --steps --torch
check "calibrate: the script has no seconds" 2 '\-\-seconds: the script has --quick' "$pando" calibrate --torch --seconds 3
models=$here/../data/models
check "search: bytes without a unit" 2 "^pando search: --memory: '10' is bytes; 10GB, 10GiB or 10B say which unit is meant\$" \
  "$pando" search gpt2 --machine h100 --devices 8 --batch 8 --memory 10
check "search: a trainer that is misspelt" 2 "^pando search: --emit: 'megatorn' is not known; the nearest is megatron" \
  "$pando" search llama3-8b --machine h100 --devices 8 --batch 8 --emit megatorn
check "search: why not, by memory" 0 'memory: a device of stage 0 needs [0-9.]+ GiB .weights .*, [0-9.]+ more than the [0-9.]+ that it has' \
  "$pando" search llama3-8b --machine h100 --devices 8 --batch 8 --quiet --why-not d=8
echo '{"model_type": "llama", "hidden_size": 4096}' > "$scratch/model_alone.json"
check "search: a model is no settings" 2 'it is not a configuration of DeepSpeed: it has no train_batch_size' \
  "$pando" search llama3-8b --machine h100 --devices 8 --batch 8 --quiet --why-not "deepspeed:$scratch/model_alone.json"
check "search: a machine without 8-bit floats" 0 '^ +[0-9.]+ +[0-9.]+ +[0-9.]+  t=1 p=1 d=16 b=[0-9]+ zero=[0-9] data-overlap$' \
  "$pando" search llama3-8b --machine tpu-v5p --devices 16 --batch 32 --quiet --top 1
check "search: a machine is asked for" 2 '\-\-machine .pando machines lists them. is required' "$pando" search gpt2 --devices 8 --batch 8
check "machines: those of simulate" 0 '^h100 +989 ' "$pando" machines
check "machines: what is measured" 0 '^ +measured on one H100 SXM, 2026-11-27: .*launch' "$pando" machines
check "machines: one as JSON" 0 '"provenance": \{' "$pando" machines gb200
"$pando" machines l40s >"$scratch/l40s.json"
check "machines: what was printed is a machine" 0 'machine l40s: ' "$pando" search gpt2 --devices 8 --batch 8 --quiet --machine "$scratch/l40s.json"
check "machines: there is none" 2 "no machine 'h1000'" "$pando" machines h1000
check "search: a config.json" 0 'sequences of 4096 tokens' \
  "$pando" search "$models/llama3_8b.json" --seq-length 4096 --machine h100 --devices 8 --batch 64 --quiet
check "search: a config.json without a length" 2 'say --seq-length' "$pando" search "$models/llama3_8b.json" --machine h100 --devices 8 --batch 64
check "search: a length of a model by name" 0 'sequences of 2048 tokens' \
  "$pando" search llama3-8b --seq-length 2048 --machine h100 --devices 8 --batch 64 --quiet
check "search: a length of a program" 2 '\-\-seq-length: a program has its positions' \
  "$pando" search "$placed" --seq-length 8 --machine h100
check "model: sizes of a config.json" 0 '"kv_heads": 8' "$pando" training-step sizes "$models/llama3_8b.json" --seq-length 4096
"$pando" training-step sizes "$models/llama3_8b.json" --seq-length 4096 -o "$scratch/sizes.json" 2>"$scratch/err"
check "model: they are a model" 0 'sequences of 4096 tokens' "$pando" search "$scratch/sizes.json" --machine h100 --devices 8 --batch 64 --quiet
check "memory: it fits" 0 'it fits: the fullest device .rank 0. needs [0-9.]+ of [0-9.]+ GiB .* are left' \
  "$pando" memory llama3-8b --devices 64 --batch 256 --machine h100
check "memory: it does not, and what would do" 1 'what would do, the quickest first: [a-z]+[= ]' \
  "$pando" memory llama3-8b --strategy "d=8" --batch 8 --machine h100
check "memory: a table" 1 '^rank,layers,weights_bytes,' "$pando" memory llama3-8b --strategy "d=8" --batch 8 --machine h100 --csv -
check "memory: against a rule" 1 'heads: 32 heads do not divide over t=7' "$pando" memory llama3-8b --strategy "t=7" --batch 8 --machine h100
check "memory: no machine" 2 '\-\-machine is required' "$pando" memory llama3-8b --devices 8
check "memory: no devices" 2 '\-\-devices, or a --strategy, is required' "$pando" memory llama3-8b --machine h100 --batch 8
for trainer in megatron torchtitan deepspeed galvatron; do
  check "search: a strategy for $trainer" 0 '' "$pando" search llama3-8b --machine h100 --devices 64 --batch 256 --quiet --emit "$trainer:$scratch/$trainer.txt"
  check "memory: a strategy of $trainer is read" 0 'it fits' "$pando" memory llama3-8b --machine h100 --devices 64 --batch 256 \
    --strategy "$trainer:$scratch/$trainer.txt" --memory 1TB
done
check "search: what settings do not say" 0 "^pando search: note: settings for deepspeed do not say precision=fp8; products run in bf16$" \
  "$pando" search llama3-8b --machine h200 --devices 64 --batch 512 --quiet --require precision=fp8 --emit "deepspeed:$scratch/unsaid.json"
check "search: what they say instead" 0 "^pando search: note: what they say is t=1 .*: by prediction [0-9.]+ s a step, not [0-9.]+, and .*; --require 'precision=bf16' searches" \
  "$pando" search llama3-8b --machine h200 --devices 64 --batch 512 --quiet --require precision=fp8 --emit "deepspeed:$scratch/unsaid.json"
check "search: settings of another trainer than the stack" 0 "^pando search: note: the prediction is of stack megatron; --stack torchtitan predicts what torchtitan does$" \
  "$pando" search llama3-8b --machine h200 --devices 64 --batch 512 --quiet --emit "torchtitan:$scratch/recipe.py"
check "search: 8-bit floats for torchtitan" 0 "Float8LinearConverter.Config.filter_fqns=.\"lm_head\"" cat "$scratch/recipe.py"
check "simulate: flags of Megatron-LM" 0 't=2 p=4 d=8 b=1 .*zero=1 recompute=selective' "$pando" simulate --model llama3-8b --machine h100 --devices 64 \
  --strategy "--tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 --micro-batch-size 1 --global-batch-size 256 --use-distributed-optimizer --recompute-activations"
check "simulate: a flag that is not understood" 2 '\-\-tensor-model-parallel-sise is not understood.*the nearest is --tensor-model-parallel-size' \
  "$pando" simulate --model llama3-8b --machine h100 --devices 64 --strategy "--tensor-model-parallel-sise 2 --global-batch-size 256"
check "search: why not, by flags" 0 'why not --tensor-model-parallel-size 8' "$pando" search llama3-8b --machine h100 --devices 8 --batch 64 --quiet \
  --why-not "--tensor-model-parallel-size 8 --micro-batch-size 1 --global-batch-size 64"
check "memory: settings that cannot be read" 2 "settings of 'vllm' cannot be read; those of deepspeed, galvatron, megatron, torchtitan can" \
  "$pando" memory llama3-8b --machine h100 --devices 8 --batch 8 --strategy vllm:x
check "search: no memory" 2 'a number with B, kB' "$pando" search --machine selene gpt2 --batch 8 --devices 4 --memory nanGB
check "search: no devices" 2 "'0': a whole number from 1 to 2147483647 is expected" "$pando" search --machine selene gpt2 --batch 8 --devices 0
check "search: the certificate" 0 '^certificate: [0-9]+ points = .* gap 0.00 %$' "$pando" search --machine selene gpt3-13b --devices 16 --batch 64 --memory 40GB --quiet --svg "$scratch/frontier.svg"
check "search: a report" 0 '^certificate' "$pando" search --machine selene gpt3-13b --devices 16 --batch 64 --quiet --why-not d=16 --report "$scratch/plan.report"
check "search: a report has the certificate" 0 '^certificate: ' "$pando" report "$scratch/plan.report"
check "search: a report has the points" 0 'frontier' "$pando" report "$scratch/plan.report" --ask plan
check "search: a report is shown" 0 'plan.html' "$pando" view "$scratch/plan.report" --no-open -o "$scratch/plan.html"
check "search: a report that cannot be written" 2 'nowhere' "$pando" search gpt2 --machine selene --devices 4 --batch 8 --quiet --report "$scratch/nowhere/plan"
check "search: a report of a pipeline" 0 '^certificate' "$pando" search --machine selene gpt2 --devices 4 --batch 8 --require p=2 --quiet --report "$scratch/pipeline.report"
check "search: a report has messages" 0 'gradients of activations  rank 1  rank 0' "$pando" report "$scratch/pipeline.report" --ask messages
check "search: a report has bubbles" 0 'rank 1 .*0[.]' "$pando" report "$scratch/pipeline.report" --ask schedule
check "search: a report has the stages" 0 'stage 1 .*weights .*layers .*rank 1' "$pando" report "$scratch/pipeline.report" --ask placement
check "search: a report of a program" 0 'device' "$pando" search "$scratch/step.txt" --samples x,z --machine selene --devices 2 --quiet --report "$scratch/program.report"
check "search: a report of a program has its schedule" 0 '^device 1 ' "$pando" report "$scratch/program.report"
check "simulate: a report" 0 'devices' "$pando" simulate "$placed" --machine selene --report "$scratch/simulated.report"
check "simulate: a report has the devices" 0 '^device 1 ' "$pando" report "$scratch/simulated.report"
check "simulate: a report of a model" 0 '^a step|seconds|samples' "$pando" simulate --model gpt3-13b --machine selene --strategy 't=4 p=4 d=2' --batch 64 --report "$scratch/model.report"
check "simulate: a report of a model has ranks" 0 '^rank 3 ' "$pando" report "$scratch/model.report"
check "search: some layers of each stage compute again" 0 'recompute=full recompute-first=[0-9]+ ' "$pando" search --machine selene llama3-70b --devices 64 --batch 128 --memory 40GB --recompute-sets --quiet
check "search: a layer that no stage has" 0 'recompute-first: 99 layers of a stage are to be computed again; a stage has 40' "$pando" search --machine selene gpt3-13b --devices 8 --batch 16 --quiet --why-not "t=8 recompute=full recompute-first=99"
check "search: what the space does not have may be quicker" 0 'quicker than the best of the space .*the space does not have p=16, c=2, schedule=ZBV$' \
  "$pando" search llama3-405b --devices 1024 --batch 1536 --machine h100 --quiet --space calculon \
  --why-not "t=8 p=16 d=4 b=1 c=2 zero=1 comm=sequence-parallel overlap=ring schedule=ZBV regather data-overlap"
echo '{"layers": 2, "hidden": 8, "heads": 2, "seq": 8, "droput": false}' >"$scratch/typo.json"
check "search: what a result says" 0 'sequences of 2048 tokens; [0-9.]+ tokens a second and device, [0-9.]+ % of the peak' \
  "$pando" search --machine selene gpt3-13b --devices 16 --batch 64 --quiet
check "search: a stack keeps memory" 0 'stack torchtitan, .*14 bytes a logit, 9.4 GiB of 79.2 kept' \
  "$pando" search gpt2 --devices 8 --batch 64 --machine h100 --stack torchtitan --quiet
check "search: no such stack" 2 "no stack 'mine'; stacks: deepspeed, fsdp, internevo, llmfoundry, megatron, megatron-2023, megatron-deepspeed, torchtitan" "$pando" search --machine selene gpt2 --devices 8 --batch 64 --stack mine
printf '#  Rank  0 Group 0 Pid 1 on a device 0\n#  Rank  1 Group 0 Pid 2 on a device 1\n# size count type redop root time algbw busbw\n1048576 262144 float sum -1 40 26 39 0 41 25 38 0\n' >"$scratch/all_reduce_perf.txt"
check "machines: tables of others" 0 "all_reduce_perf.txt: nccl-tests, 1 row and 0 numbers" "$pando" machines --read "$scratch/all_reduce_perf.txt" --like h100 -o "$scratch/mine.json"
check "search: on such a machine" 0 "certificate" "$pando" search --machine "$scratch/mine.json" gpt2 --devices 2 --batch 8
check "machines: tables need a machine" 2 "^pando machines: --read requires --like" "$pando" machines --read "$scratch/all_reduce_perf.txt"
check "search: precision is demanded" 1 'selene has no products in 8-bit floats' \
  "$pando" simulate --model gpt2 --batch 8 --machine selene --strategy "d=8 precision=fp8"
check "search: a misspelt member" 2 "typo.json: there is no member 'droput'; the nearest is dropout" "$pando" search --machine selene "$scratch/typo.json" --devices 1 --batch 1
echo '{"layers": 2, "hidden": 8, "heads": 4, "kv_heads": 3, "seq": 8}' >"$scratch/odd.json"
check "search: sizes that cannot be" 2 'kv_heads is 3, which does not divide heads 4' "$pando" search --machine selene "$scratch/odd.json" --devices 1 --batch 1
check "search: what is outside" 0 '^outside the space: .*schedule=ZB-H2 \(only' "$pando" search --machine selene gpt2 --devices 2 --batch 8 --quiet
check "search: nothing fits on a smaller machine" 1 "break the rule 'network': 64 devices; the machine has 16" \
  "$pando" search llama3-8b --devices 64 --batch 64 --machine dgx2 --quiet
check "search: nothing fits, and what would do" 1 'what would do: [0-9]+ devices and a batch of' "$pando" search --machine selene megatron-1t --devices 16 --batch 16 --quiet
check "search: nothing fits, but with a change outside the space" 1 'what would do on these devices, outside the space, the quickest first: offload-optimizer: ' \
  "$pando" search deepseek-v3 --devices 64 --batch 512 --machine h100 --quiet
check "search: a program that is too large to write" 2 "takes about .* GiB to write; 0.0[0-9] are free for this process, of which it takes 90 % at most. Fewer --devices or a smaller --batch would do" \
  env PANDO_HOST_MEMORY=60000000 "$pando" search gpt2 --devices 16 --require t=4 --batch 64 --machine h100 --quiet --emit "torch:$scratch/too_large"
check "search: nothing is written of it" 1 "" test -e "$scratch/too_large"
check "search: words and nothing else" 2 '\-\-words: it stands alone' "$pando" search gpt2 --words
for option in why-not require memory svg report emit stack machine; do
  check "search: an empty $option" 2 "^pando search: --$option: a value is expected, not an empty text\$" \
    "$pando" search gpt2 --machine h100 --devices 8 --batch 8 "--$option" ''
done
check "search: samples longer than learned positions" 2 'gpt2: samples of 2048 tokens are asked for; the model has 1024 positions' \
  "$pando" search gpt2 --machine h100 --devices 8 --batch 8 --seq-length 2048
check "memory: a text's sizes inside of a model of images" 0 '^note: of the .gemma3. its text_config, a .gemma3_text., is read alone: vision_config' \
  "$pando" memory "$models/gemma3_4b.json" --seq-length 8192 --machine h100 --devices 8 --batch 64
check "search: numbers of devices are different ones" 2 '\-\-devices: 8 is given twice' "$pando" search gpt2 --machine h100 --devices 8,16,8 --batch 16
check "search: a price of one number of devices" 2 '\-\-by: prices of several numbers of devices are compared' \
  "$pando" search gpt2 --machine h100 --devices 8 --batch 16 --by price
check "search: one space" 2 'excludes' "$pando" search gpt2 --machine h100 --devices 8 --batch 16 --wide --space trainers
check "simulate: a strategy of other devices" 2 '\-\-devices: the strategy takes 8 devices, 16 were asked for' \
  "$pando" simulate --model gpt2 --machine h100 --strategy d=8 --devices 16 --batch 16
check "memory: settings of another batch" 2 '\-\-strategy: it has a batch of 64, --batch is 32' \
  "$pando" memory gpt2 --machine h100 --devices 8 --batch 32 --strategy "--micro-batch-size 1 --global-batch-size 64"
check "memory: settings of other samples" 2 'it has samples of 512 tokens, the model has 1024 tokens; --seq-length says' \
  "$pando" memory gpt2 --machine h100 --devices 8 --strategy "--micro-batch-size 1 --global-batch-size 64 --seq-length 512"
check "memory: bytes without a unit" 2 "\-\-memory: '5' is bytes" "$pando" memory gpt2 --machine h100 --devices 8 --batch 8 --memory 5
check "simulate: the reference has its own machine" 2 '\-\-machine: the reference' "$pando" simulate "$placed" --cost reference --machine h100
check "fit: a name without a file" 2 '\-\-name requires --output' "$pando" fit "$scratch/none.csv" --machine h100 --name mine
check "emit: sizes of a module" 2 '\-\-dimension: it takes an ONNX model' "$pando" emit torch "$placed" -o "$scratch/none" --dimension a=3
check "emit: samples of a module" 2 '\-\-samples: it takes a projected program' "$pando" emit torch "$placed" -o "$scratch/none" --samples 4
check "search: a dimension that is given twice" 2 "'a' is given twice" "$pando" search "$placed" --machine h100 --devices 2 --samples a,a:1
check "calibrate: steps have no seconds" 2 '\-\-seconds: the script of --steps' "$pando" calibrate --steps --seconds 3
"$pando" training-step mlp --layers 2 --width 32 --batch 8 -o "$scratch/mlp2.txt"
"$pando" transform "$scratch/mlp2.txt" --batch x,z --data 2 -o "$scratch/mlp2.pando"
expect "simulate: devices that hold something" "$("$pando" simulate "$scratch/mlp2.pando" --machine h100 --report "$scratch/mlp2.report" | awk '/^ +[0-9]+ /{print $1}' | tr '\n' ' ')" "1 2 1 2 "
check "simulate: the same in its report" 0 'device 2' "$pando" report "$scratch/mlp2.report"
check "search: the words" 0 'Megatron-LM --tensor-model-parallel-size' "$pando" search --words
check "search: a degree that cuts nothing" 0 'e=2 cuts nothing: gpt2 has no experts' "$pando" search --machine selene gpt2 --devices 2 --batch 8 --quiet --why-not "d=2 e=2"
check "search: a space of a program" 2 '\-\-space: it takes a transformer' "$pando" search --machine selene "$here/../data/simulate/data_parallel.txt" --space trainers
check "search: the picture" 0 '<svg' cat "$scratch/frontier.svg"
check "search: why not" 0 'memory: a device of stage 0 needs [0-9.]+ GiB ' "$pando" search --machine selene gpt3-13b --devices 16 --batch 64 --quiet --why-not "d=16"
check "search: options of programs beside a transformer" 2 '\-\-schedules: it takes a program' \
  "$pando" search --machine selene gpt2 --batch 8 --quiet --schedules all
check "search: nothing fits" 1 'nothing fits' "$pando" search --machine selene gpt3-175b --devices 8 --batch 8 --memory 1GB --quiet
check "search: nothing fits, with a certificate" 1 'certificate: [1-9][0-9]* points = 0 evaluated' \
  "$pando" search --machine selene gpt3-175b --devices 8 --batch 8 --memory 1GB --quiet
check "search: memory that is none" 2 "\-\-memory: 'lots': a number with B, kB" "$pando" search --machine selene gpt2 --batch 8 --memory lots
check "search: by price over several machines' sizes" 0 'by price: 8 devices' "$pando" search --machine selene gpt2 --devices 8,16 --batch 16 --by price --quiet
numbers='"half_operations": 1, "single_operations": 1, "vector_operations": 1, "memory_bytes_per_second": 1, "memory_bytes": 1'
printf '{"name": "a", %s, "levels": [{"name": "x", "devices": 2, "bytes_per_second": 0}]}' "$numbers" >"$scratch/machine.json"
check "search: a machine that cannot be" 2 'bytes_per_second of a level is 0' "$pando" search gpt2 --batch 8 --machine "$scratch/machine.json"
"$pando" model gpt --layers 2 --width 8 --batch 4 -o "$scratch/gpt.txt"
check "search: a program, and its winner is equal" 0 '^equality: (bit for bit|equal to)' \
  "$pando" search "$scratch/gpt.txt" --samples tokens,labels --devices 4 --machine bow-pod --quiet --check --emit "$scratch/four.pando"
check "search: why not, of a program" 0 'devices: it takes 3 devices, 4 were asked for' \
  "$pando" search "$scratch/gpt.txt" --samples tokens,labels --devices 4 --machine bow-pod --quiet --why-not "tensor=3"
"$pando" model gpt --layers 4 --width 32 --heads 4 --sequence 32 --batch 16 --vocabulary 64 -o "$scratch/long.txt" >/dev/null
check "search: some layers compute again" 0 'recompute=full recompute-layers=[0-9/]+$' \
  "$pando" search "$scratch/long.txt" --samples tokens,labels --devices 2 --machine bow-pod --quiet --check --memory 900KB --recompute-sets \
  --require "pipeline=2 microbatches=4"
check "search: updates that wait for all ranks" 0 'synchronisation 0.0[0-9]*[1-9]' \
  "$pando" search --machine selene gpt3-13b --devices 16 --batch 64 --quiet --wide --require "t=2 p=8 schedule=ZB-H2"
check "search: updates that do not" 0 'synchronisation 0.0000' \
  "$pando" search --machine selene gpt3-13b --devices 16 --batch 64 --quiet --wide --require "t=2 p=8 schedule=ZB-H2 post-validation"
check "search: what was written is simulated" 0 '^4 devices, ' "$pando" simulate "$scratch/four.pando" --machine ipu2:64
check "simulate: compiled to tiles, against the cycle model" 0 'by the cycle model [0-9.e-]+ s \([0-9]+ cycles on 4 IPUs\)' \
  "$pando" simulate "$scratch/four.pando" --fidelity cycles --tiles 64
check "search: a program, too large by a bound" 1 'certificate: ([0-9]+) points = 0 evaluated .* [1-9][0-9]* too large by a bound' \
  "$pando" search "$scratch/gpt.txt" --samples tokens,labels --devices 4 --machine bow-pod --quiet --memory 1000
check "search: why not, by device and bytes" 1 'memory: device [0-9]+ needs [0-9]+ bytes \(.*\), [0-9]+ more than the' \
  "$pando" search "$scratch/gpt.txt" --samples tokens,labels --devices 4 --machine bow-pod --quiet --memory 1000 --why-not "data=4"
"$pando" schedule --name GPipe --ranks 2 --microbatches 2 -o "$scratch/table.csv" >"$scratch/out"
check "search: a schedule's table" 0 "schedule=$scratch/table.csv" \
  "$pando" search "$scratch/gpt.txt" --samples tokens,labels --devices 2 --machine bow-pod --quiet --check \
  --require "pipeline=2 microbatches=2 schedule=$scratch/table.csv"
check "search: schedules by name" 2 "there is no schedule named 'mine'" \
  "$pando" search "$scratch/gpt.txt" --samples tokens,labels --devices 2 --machine bow-pod --quiet --schedules GPipe,mine
check "search: cuts of weights" 0 '^equality: (bit for bit|equal to)' \
  "$pando" search "$scratch/gpt.txt" --samples tokens,labels --devices 2 --machine bow-pod --quiet --check --require "tensor=2" --cuts
check "search: cuts of several weights" 0 '^equality: (bit for bit|equal to)' \
  "$pando" search "$scratch/gpt.txt" --samples tokens,labels --devices 2 --machine bow-pod --quiet --check --require "tensor=2" --cuts 2
check "search: a number of cuts" 2 '\-\-cuts' "$pando" search --machine selene "$scratch/gpt.txt" --samples tokens,labels --devices 2 --quiet --cuts none
check "search: memory in other units" 1 'nothing fits' "$pando" search --machine selene "$scratch/gpt.txt" --samples tokens,labels --devices 2 --quiet --memory 1KiB
check "search: a demand that cannot be" 1 'no strategy has so many devices' \
  "$pando" search --machine selene "$scratch/gpt.txt" --samples tokens,labels --devices 4 --quiet --require "tensor=3"
"$pando" model mlp --layers 4 --width 512 --batch 512 -o "$scratch/wide.txt"
check "search: a program by time" 0 'by time: 4 devices' \
  "$pando" search "$scratch/wide.txt" --samples x,z --devices 1,4 --machine bow-pod --quiet --require "microbatches=1"
check "search: a program by price" 0 'by price: 1 device$' \
  "$pando" search "$scratch/gpt.txt" --samples tokens,labels --devices 1,4 --machine bow-pod --quiet --require "microbatches=1" --by price
check "search: why not, of several sizes" 0 '1 device is better by price' \
  "$pando" search "$scratch/gpt.txt" --samples tokens,labels --devices 1,4 --machine bow-pod --quiet --require "microbatches=1" --by price --why-not data=4
check "search: too many devices" 2 "'4294967297': a whole number from 1 to 2147483647 is expected" \
  "$pando" search "$scratch/gpt.txt" --samples tokens,labels --devices 4294967297 --machine bow-pod --quiet
check "search: samples are in the program" 2 'a program has its samples' "$pando" search --machine selene "$scratch/gpt.txt" --batch 8 --devices 2
check "search: a folder is not a model" 2 "cannot read $scratch/no_rows: it is a folder" "$pando" search --machine selene "$scratch/no_rows" --devices 2 --batch 4
check "search: more devices than a number has" 2 "'99999999999999999999': a whole number from 1 to " \
  timeout 10 "$pando" search --machine selene gpt2 --devices 99999999999999999999 --batch 4
echo '{"layers": 2,, }' >"$scratch/model.json"
check "search: a model that is not JSON" 2 'model.json:1:14: parse error at line 1, column 14' "$pando" search --machine selene "$scratch/model.json" --devices 2 --batch 4
expect "search: no library is named" "$(grep -c exception "$scratch/err")" 0
check "search: no such model" 2 "no model and no file 'gpt.json'; models: " "$pando" search --machine selene gpt.json --devices 2
check "search: why not, a word that is none" 2 "a strategy has no word 'ranks'" \
  "$pando" search --machine selene "$scratch/gpt.txt" --samples tokens,labels --devices 2 --quiet --why-not "ranks=2"
check "search: a transformer's word of the same meaning" 0 'tensor=2' \
  "$pando" search "$scratch/gpt.txt" --samples tokens,labels --devices 2 --machine bow-pod --quiet --require "t=2"
check "search: a demand" 0 'data=2 zero=3' \
  "$pando" search "$scratch/gpt.txt" --samples tokens,labels --devices 2 --machine bow-pod --quiet --require "data=2 zero=3"
check "search: by what ops cost when they are compiled" 0 'priced by what was compiled: [0-9]+ ops' \
  "$pando" search "$scratch/gpt.txt" --samples tokens,labels --devices 2 --machine ipu2:4 --quiet --require "data=2 zero=0 recompute=none" --cost compiled
check "search: a word that is none" 2 "a strategy has no word 'datum'; the nearest is data" \
  "$pando" search --machine selene "$scratch/gpt.txt" --samples tokens,labels --devices 2 --quiet --require "datum=2"
check "search: a transformer needs its batch" 2 '--batch is required' "$pando" search --machine selene gpt2
check "search: a transformer's winner is written" 0 'samples/s' \
  "$pando" search gpt2 --devices 4 --batch 4 --machine bow-pod --memory 100GB --quiet --require "t=4 b=1 recompute=full" --emit "$scratch/gpt2.pando"
check "search: it is a program" 0 '^4 devices, ' "$pando" simulate "$scratch/gpt2.pando" --machine selene

# --- schedules
schedules=$here/../data/distribution/schedules
check "schedule: by name" 0 'makespan 59, longest rank 59, bubble 18.6441 %' "$pando" schedule --name V-Min --ranks 4 --microbatches 8 --stages-per-rank 2
check "schedule: a table" 0 'at the most, in microbatches of a rank: 4.5 4.5 4.5 4.5' "$pando" schedule "$schedules/torch_DualPipeV_p4_m8_v2.csv"
check "schedule: a broken table" 1 "order: rank 3, cell 2 '3B0': a backward pass without" "$pando" schedule "$schedules/negative_torch_1F1B_p4_m8.csv"
check "schedule: drawn" 0 '^rank 1   \.\.000\.$' "$pando" schedule --name GPipe --ranks 2 --microbatches 1 --columns 1 --draw --input-gradient 0.5 --weight-gradient 0.5 --transfer 0 --forward 2
check "schedule: nothing" 2 'a CSV file, or --ranks' "$pando" schedule
check "schedule: unknown name" 2 'no schedule named' "$pando" schedule --name nothing --ranks 2 --microbatches 2
check "schedule: no room" 2 'schedule-memory' "$pando" schedule --ranks 2 --microbatches 2 --memory 0.1
check "schedule: more cells than a host has" 2 'too many cells' "$pando" schedule --ranks 100000 --microbatches 100000 --memory 1
check "schedule: no file" 2 'nowhere' "$pando" schedule "$scratch/nowhere.csv"
check "schedule: costs" 2 '3 costs of F for 2 stages' "$pando" schedule --name GPipe --ranks 2 --microbatches 2 --forward 1,2,3
check "schedule: a picture that is too wide" 2 'it has at most 100000' "$pando" schedule --name GPipe --ranks 2 --microbatches 2 --draw --forward 1e12
check "schedule: no width of a picture" 2 "'nan': a number above 0 is expected" "$pando" schedule --name GPipe --ranks 2 --microbatches 2 --draw --columns nan
"$pando" schedule --name 1F1B --ranks 2 --microbatches 2 -o "$scratch/s.csv" --svg "$scratch/s.svg" >/dev/null
expect "schedule: written" "$(cat "$scratch/s.csv")" $'0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1'
check "schedule: with its transfers" 0 '^1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1B1,1SEND_B1,1WAIT_SEND_B0,1WAIT_SEND_B1$' \
  "$pando" schedule "$scratch/s.csv" --lower --no-shards -o -
check "schedule: what has transfers is lowered no more" 2 'has transfers already' \
  "$pando" schedule "$schedules/torchcomms_Interleaved1F1B_p2_m4_v2.csv" --lower -o -
check "schedule: a picture" 0 '</svg>' cat "$scratch/s.svg"

# --- distribution
"$pando" model mlp --layers 4 --width 8 --batch 8 -o "$scratch/mlp.txt"
distribute() { "$pando" transform "$scratch/mlp.txt" --batch x,z "$@"; }
check "transform: counts" 0 '^280 ops, 8 devices$' distribute --data 2 --tensor 2 --pipeline 2 --microbatches 2 --summary
distribute --data 2 --tensor 2 --pipeline 2 --microbatches 2 --recompute full --offload weights -o "$scratch/devices.txt"
check "transform: what it prints is valid, and parses" 0 'remote_store  *16$' "$pando" transform "$scratch/devices.txt" --unroll-pmap --summary
expect "transform: from standard input" "$("$pando" transform - --data 2 --batch x,z <"$scratch/mlp.txt")" "$(distribute --data 2)"
check "transform: what does not divide" 2 "dimension 0 of 'x' \(8, 8\) does not divide by 3" distribute --data 3
check "transform: too many stages" 2 '4 layers do not fill 5 stages' distribute --pipeline 5 --microbatches 8
check "transform: no such input" 2 "no input 'y'" "$pando" transform "$scratch/mlp.txt" --batch y --data 2
check "transform: names and dimensions" 2 'expected name:dimension' "$pando" transform "$scratch/mlp.txt" --batch x:one --data 2
"$pando" schedule --name ZB-H1 --ranks 2 --microbatches 4 -o "$scratch/zb.csv" >"$scratch/out"
expect "transform: a schedule as a table" "$(distribute --pipeline 2 --microbatches 4 --table "$scratch/zb.csv")" "$(distribute --pipeline 2 --microbatches 4 --schedule ZB-H1)"
expect "transform: help and messages are text" "$({ "$pando" transform --help; distribute --recompute foo; } 2>&1 | LC_ALL=C tr -d '\n\t -~' | wc -c)" 0
check "transform: recompute" 2 "--recompute: 'foo': one of none, selective, full is expected" distribute --recompute foo
check "transform: devices are whole numbers" 2 "'2.5': a whole number from 1 to 2147483647" distribute --data 2.5
check "model: unknown" 2 "^pando training-step: there is no command 'foo'; there are mlp, gpt" "$pando" model foo
check "model: unknown, then known" 2 "^pando training-step: there is no command 'foo'" "$pando" model foo mlp
expect "model: unknown, then known: nothing is printed" "$(cat "$scratch/out")" ""
check "model: none" 2 'a command is required: mlp, gpt' "$pando" model
check "model: a rate that is not a number" 2 "learning-rate: 'nan': a number is expected" "$pando" model mlp --learning-rate nan
check "model: a count below 0" 2 "experts: '-1': a whole number from 0" "$pando" model gpt --experts=-1
check "model: experts" 0 '= cumsum' "$pando" model gpt --experts 2
check "model: heads" 2 'heads is 3; it must divide the width, which is 8' "$pando" model gpt --heads 3
check "import: no model" 2 'this is not an ONNX file' "$pando" import "$scratch/mlp.txt"

# --- projection
note=$here/../golden/project/note.txt
check "project: equal to its reference" 0 "8 samples: equal to the reference of '2BW 4', in terms and bit for bit" "$pando" project "$note" --policy '2BW 4' --samples 8 -q
check "project: no policy" 2 'name a policy of state' "$pando" project "$note"
check "project: no such policy" 2 "'fast' is not a policy of state" "$pando" project "$note" --policy fast
check "project: too old" 2 "it would read 'WA' 1 sample old; the policy is 'delay at most 0'" "$pando" project "$note" --policy 'delay at most 0'
check "project: a file that is none, and no policy" 2 "expected 'module'" "$pando" project "$here/test_cli.sh"
check "project: a seed that is none" 2 "'-1': a whole number from 0 to 4294967295" "$pando" project "$note" --policy delay --seed=-1
check "project: a file that is none" 2 "expected 'module'" "$pando" project "$here/test_cli.sh" --policy strict
check "project: capacities" 0 'stream d10: .* capacity 3$' "$pando" project "$note" --policy delay --capacity unbounded,d10=3
check "project: no such stream" 2 "no such stream" "$pando" project "$note" --policy delay --capacity q=3
check "project: windows" 2 '5 samples; windows have 4' "$pando" project "$note" --policy 'flush 4' --samples 5 -q
"$pando" project "$note" --policy delay -o "$scratch/delay.txt"
expect "project: written" "$(cat "$scratch/delay.txt")" "$(cat "$here/../golden/project/note_delay.txt")"
expect "project: parsed" "$("$pando" project "$scratch/delay.txt")" "$(cat "$scratch/delay.txt")"
expect "project: parsed, run" "$("$pando" project "$scratch/delay.txt" -q --samples 3)" "$("$pando" project "$note" --policy delay -q --samples 3 | head -n -1)"
sed 's/trips N + 1/trips N/' "$scratch/delay.txt" >"$scratch/short.txt"
check "project: no drain" 1 'C7-drain: device 0: .* sample N - 1 is never drained' "$pando" project "$scratch/short.txt"
python3 -c "print(*[0.5] * 18)" >"$scratch/numbers"
check "project: inputs" 0 "2 samples: equal" "$pando" project "$note" --policy delay -q --samples 2 --input "x=$scratch/numbers" --input "l=$scratch/numbers"
check "project: too few numbers" 2 "has 18 numbers; 27 are read" "$pando" project "$note" --policy delay -q --samples 3 --input "x=$scratch/numbers"
cat >"$scratch/pmap.txt" <<'END'
module
stream 0 "x" to device: Tensor[(4, 2), float32]
variable "w" input 0: Tensor[(2, 2), float32, 0] = float32(2, 2)[1.0, 0.0, 1.0, 1.0]

graph main(w: Tensor[(2, 2), float32, 0]):
    x: Tensor[(4, 2), float32, 0] = host_load(stream=@stream0)
    xs: Tuple[Tensor[(2, 2), float32, 1], Tensor[(2, 2), float32, 2]] = scatter_across(x, devices=[1, 2], dim=0)
    ws: Tuple[Tensor[(2, 2), float32, 1], Tensor[(2, 2), float32, 2]] = broadcast_across(w, devices=[1, 2])
    ys: Tuple[Tensor[(2, 2), float32, 1], Tensor[(2, 2), float32, 2]] = pmap(xs, ws, device_var=0) @body
    sums: Tuple[Tensor[(2, 2), float32, 1], Tensor[(2, 2), float32, 2]] = all_reduce_across(ys, op="add")
    sum: Tensor[(2, 2), float32, 0] = reduce_across(sums, device=0, op="mean")
    v: Tensor[(2, 2), float32, 0] = sub(w, sum)
    return
    final w = v

graph body(xi: Tensor[(2, 2), float32, d0], wi: Tensor[(2, 2), float32, d0]):
    yi: Tensor[(2, 2), float32, d0] = matmul(xi, wi)
    return yi
END
check "project: pmap and collectives" 0 "4 samples: equal to the reference of 'delay'" "$pando" project "$scratch/pmap.txt" --policy delay --samples 4 --capacity 0
# What the document shows is what the command prints.
document=$here/../../docs/level/projection.md
grep '^\$ pando pipeline' "$document" >"$scratch/commands"
while IFS= read -r line; do
  shown=$(awk -v line="$line" '$0 == line {on = 1; next} on && $0 == "```" {exit} on' "$document")
  expect "project: the document: $line" "$(cd "$here/../.." && PATH=${pando%/*}:$PATH bash -c "${line#\$ }")" "$shown"
done <"$scratch/commands"
expect "project: the document has commands" "$(wc -l <"$scratch/commands")" 2

# --- popc
check "popc: targets" 0 '^ipu2$' "$popc" --list-targets
check "popc: unknown target" 1 "unknown target 'ipu9'; targets: cpu, ipu1, ipu2, ipu21" "$popc" --target ipu9 "$scratch/none.cpp"
check "popc: nothing to describe" 1 'no input files' "$popc" --describe
check "popc: an address that is none" 1 "source-of: 'zzz' is no address" "$popc" --source-of=zzz "$scratch/none.gp"
echo 'int unused;' >"$scratch/unused.cpp"
check "popc: where nothing can be written" 1 "cannot write '.*nowhere/unused.gp': No such file or directory" \
  "$popc" -c "$scratch/unused.cpp" -o "$scratch/nowhere/unused.gp"

# --- every command says what each option is, has examples and exit statuses, and rejects whole numbers that are none
for command in $("$pando" --help | sed -nE 's/^  ([a-z-]+) .*/\1/p' | grep -v '^-') "jupyter install" "training-step mlp" "training-step gpt" \
  "measure program" "measure ipus" "measure host" "measure ranks"; do
  # shellcheck disable=SC2086
  "$pando" $command --help >"$scratch/help"
  expect "help: $command has an example" "$(grep -cE "^  (source <\()?pando ${command%% *}" "$scratch/help" | sed 's/^[1-9][0-9]*$/some/')" some
  sed -nE 's/^  source <\((.*)\)$/  \1/; s/ [>|] .*//; s/^  (pando .*)/\1/p' "$scratch/help" >>"$scratch/examples"
  expect "help: $command has exit statuses" "$(grep -cE '^  (0|N) +[a-z]' "$scratch/help")" 1
  # A description follows the option, its type and its demands, or stands below.
  expect "help: $command" "$(sed -E '/^  -/ { s/^ +[^ ]+( (TEXT|INT|UINT|FLOAT)[^ ]*)?( \.\.\.)?( REQUIRED| (Excludes|Needs):( (input|-[^ ]+))+)*/OPTION/ }' "$scratch/help" |
    awk '/^    / { wanting = 0 } wanting { print "nothing before: " $0 } { wanting = /^OPTION *(in .*)?$/ }')" ""
  for option in $(sed -nE 's/^  (-[a-z],)?(--[a-z-]+) U?INT.*/\2/p' "$scratch/help"); do
    # shellcheck disable=SC2086
    check "$command $option: no number has so many digits" 2 "$option: '99999999999999999999': a whole number from" \
      timeout 10 "$pando" $command "$option=99999999999999999999" none
  done
done

# --- each example of a help is right: with one more option, that option alone is wrong. (With -c of pando repl it is the code's argument.)
while IFS= read -r example; do
  words=${example#pando }
  (cd "$scratch" && eval "timeout 60 '$pando' ${words%% *} --nothing ${words#"${words%% *}"}") >"$scratch/out" 2>"$scratch/err" </dev/null
  [[ $words == repl*" -c "* ]] && wanted="" || wanted="there is no option '--nothing'"
  expect "example: $example" "$(grep -E ' is expected|is required|there is no' "$scratch/err" | sed -E "s/^pando[a-z -]*: ([^;]*).*/\1/" | head -1)" "$wanted"
done < <(sort -u "$scratch/examples")

echo "$checks checks, $failures failures"
[[ $failures -eq 0 ]]
