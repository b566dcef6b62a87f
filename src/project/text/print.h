// The text of a projected program. It parses back to the same (parse.h): print(parse(x)) == x.
//
//     project delay
//     trips N + 1
//
//     stream x: host "x" -> 0, Tensor[(4, 8), float32], 128 bytes, capacity 1
//     stream b01: 0 -> 1, Tensor[(4, 8), float32], 128 bytes, capacity 1
//
//     device 0:
//         state WA: Tensor[(8, 8), float32, 0] = hex"..."
//         buffer x: Tensor[(4, 8), float32, 0]
//         buffer a: Tensor[(4, 8), float32, 0] x 2
//         loop t:
//             if t < N:
//                 x = receive(x)
//                 a[t % 2] = call(WA, x) @A reading WA of i - 1
//                 send(a[t % 2], b01)
//             if t >= 1:
//                 WA = call(a[(t - 1) % 2], WA) @wup
//
// N is the number of samples. An action under `t >= r` works on sample i = t - r; `reading W of i - 1` declares which version of a state it
// sees, where that is not the sample's own. Behind the devices stand the graphs that the ops carry.
//
//     program  := "project" policy "trips" "N" ["+" n] {stream} {device} {graph}
//     stream   := "stream" name ":" end "->" end "," type "," bytes "bytes" "," "capacity" (n | "unbounded")
//     end      := device | "host" "text" ["slice" n "of" n]
//     device   := "device" n ":" {state | sum | buffer} ["before" ":" {action}] ["loop" "t" ":" {action | "if" guard ":" {action}}]
//                 ["update" ":" {action}]
//     state    := "state" name ":" type ["x" copies] "=" data          buffer := "buffer" name ":" type ["x" copies]
//     sum      := "sum" name ":" type ["x" copies]
//     guard    := item {"and" item}      item := "t" ">=" n | "t" "<" "N" ["+" n] | "last" "of" n
//     action   := [slot {"," slot} "="] call ["reading" version {"," version}]    | slot "=" "receive" "(" stream ")" | "send" "(" slot ","
//     stream ")" slot     := name ["[" index "%" copies "]"] index    := "t" | "(" "t" ("+" | "-") n ")" | "(" ("t" | "(" "t" ("+" | "-") n
//     ")") "/" n ["+" n | "-" n] ")" version  := name "of" ("i" | "w") ["+" n | "-" n]
//
// Lines and their indentation count. A `send` or `receive` in this text is never an op's call: that op is a stream here.
#pragma once

#include "project/program.h"

#include <string>

namespace pando::project {

struct PrintOptions {
  // Types of buffers, initial data of states and the graphs: without them it is shorter, but does not parse.
  bool whole = true;
};

std::string print(const ProjectedProgram& program, const PrintOptions& options = {});
// One action, as a line without indentation.
std::string print_action(const ProjectedProgram& program, const DeviceProgram& device, const Action& action);

}  // namespace pando::project
