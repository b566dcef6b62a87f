#include "ontile/session.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include <pando/host.hpp>
#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/exceptions.hpp>

#include "ontile/disk_image.h"
#include "ontile/machine_program.h"
#include "ontile/port/exchange.h"
#include "ontile/protocol.h"
#include "ontile/reject.h"
#include "ontile/runtime/interrupts.h"
#include "ontile/runtime/python.h"
#include "ontile/split_text.h"
#include "ontile/waits.h"

namespace pando::ontile {

namespace {

Ending ending_of(std::uint32_t state) { return static_cast<Ending>(state >> 8 & 0xff); }
int status_of(std::uint32_t state) { return static_cast<int>(state >> 16 & 0xff); }
State state_of(std::uint32_t state) { return static_cast<State>(state & 0xff); }

// Output of a command is shown when it is so old (us), or so much (bytes; a step of all tiles may bring some more).
constexpr std::uint64_t kShowAfter = 300'000, kShowApart = 1'000'000;
constexpr std::size_t kMostHeld = std::size_t{1} << 20;

// The texts of the tiles, so far: all the same, or one each.
class Texts {
 public:
  explicit Texts(std::size_t tiles) : tiles_(tiles) {}
  void add_to_all(std::string_view text) {
    bytes_ += each_.empty() ? text.size() : text.size() * each_.size();
    if (each_.empty()) {
      all_ += text;
      return;
    }
    for (std::string& t : each_) t += text;
  }
  std::size_t bytes() const { return bytes_; }
  void add(std::size_t i, std::string_view text) {
    if (text.empty()) return;
    if (each_.empty()) {
      each_.assign(tiles_, all_);
      bytes_ = all_.size() * tiles_;
    }
    bytes_ += text.size();
    each_[i] += text;
  }
  // Takes the lines that all tiles have said alike from the beginning on.
  std::string take_common() {
    if (each_.empty()) {
      bytes_ = 0;
      return std::exchange(all_, {});
    }
    std::size_t common = each_[0].size();
    for (const std::string& t : each_)
      common = std::min(
          common,
          static_cast<std::size_t>(
              std::mismatch(each_[0].begin(), each_[0].begin() + static_cast<std::ptrdiff_t>(std::min(common, t.size())), t.begin()).first -
              each_[0].begin()));
    common = common == 0 ? 0 : each_[0].rfind('\n', common - 1) + 1;
    std::string lines = each_[0].substr(0, common);
    for (std::string& t : each_) t.erase(0, common);
    bytes_ -= common * each_.size();
    return lines;
  }
  // Fills texts and text numbers of the answers.
  void finish(Reply& reply) {
    if (each_.empty()) {
      reply.texts = {all_};
      return;
    }
    std::unordered_map<std::string_view, std::uint32_t> known;
    for (std::size_t i = 0; i < each_.size(); ++i) {
      const auto [place, is_new] = known.try_emplace(each_[i], static_cast<std::uint32_t>(reply.texts.size()));
      if (is_new) reply.texts.push_back(each_[i]);
      reply.answers[i].text = place->second;
    }
  }

 private:
  std::size_t tiles_, bytes_ = 0;
  std::string all_;
  std::vector<std::string> each_;
};

}  // namespace

struct Session::Impl {
  explicit Impl(const SessionOptions& options);

  Reply command(Action action, std::string_view text, Input input, std::string_view name);
  void step(Action action, std::string_view piece, std::size_t offset, std::size_t total, std::string_view name, unsigned kind);
  void collect(Texts& texts, Reply& reply);
  std::string why_stuck() const;
  void write_seats();
  void give_input(Texts& all, const Reply& reply);
  void show(Texts& all, const Reply& reply);
  bool shows() const { return options.output && !options.counted_clock; }
  void load_disks();
  void save_disks(bool at_end = false);
  void select_all();
  // Runs `ask` for one tile alone.
  template <class Ask>
  auto ask_one(const Ask& ask);

  SessionOptions options;
  std::unique_ptr<DiskImage> disks;
  MachineShape shape;
  unsigned slot = pando_python_new_slot();
  std::vector<std::uint32_t> data_bytes;  // of each tile
  std::unique_ptr<HostPython> host_python;
  std::unique_ptr<poplar::Engine> engine;
  std::vector<unsigned> selected;
  std::string line;  // of input, and how much of it was given
  std::size_t line_given = 0;
  std::uint64_t last_shown = 0;    // of the clock in us
  std::vector<std::string> ended;  // why, of each tile; empty: alive
  std::vector<unsigned char> command_buffer = std::vector<unsigned char>(kCommandBytes);
  std::vector<std::uint32_t> seats, states, outcome = std::vector<std::uint32_t>(kOutcomeWords);
  std::vector<char> data, texts, text = std::vector<char>(kOutBytes);
};

Session::Impl::Impl(const SessionOptions& given) : options(given) {
  const auto tell = [&](std::string_view what) {
    if (options.progress) options.progress(what);
  };
  poplar::IPUModel model("ipu2");
  if (options.ipus == 0 || (options.ipus & (options.ipus - 1)) != 0 || options.ipus > 64)
    reject<poplar::invalid_option>("ipus", "a machine has 1, 2, 4 ... 64 IPUs, not {}", options.ipus);
  model.numIPUs = options.ipus;
  shape.ipus = options.ipus;
  shape.tiles_per_ipu = model.tilesPerIPU;
  const unsigned most = model.numIPUs * model.tilesPerIPU;
  shape.tiles = options.tiles == 0 ? most : options.tiles;
  if (shape.tiles > most)
    reject<poplar::invalid_option>("interpreters", "{} interpreters, but {} IPUs have {} tiles", shape.tiles, options.ipus, most);
  const std::vector<std::string_view> pieces =
      options.has_data ? split_text(options.data, shape.tiles, options.cut) : std::vector<std::string_view>();
  for (const std::string_view piece : pieces) {
    data_bytes.push_back(static_cast<std::uint32_t>(piece.size()));
    shape.data_bytes = std::max(shape.data_bytes, static_cast<std::uint32_t>((piece.size() + 7) / 8 * 8));
  }
  if (!options.disk.empty() || options.disk_kib > 0) {
    disks = std::make_unique<DiskImage>(options.disk, options.disk_kib);
    shape.disk_blocks = disks->blocks();
  }
  if (options.lent_kib > 96) reject<poplar::invalid_option>("lent-memory", "a tile can lend up to 96 KiB, not {}", options.lent_kib);
  shape.lent_blocks = options.lent_kib * 1024 / kBlockBytes;
  const poplar::Device device = model.createDevice();
  const poplar::Target& target = device.getTarget();
  bool cached = false;
  host_python = std::make_unique<HostPython>(target.getBytesPerTile());
  const BootedImage image = host_python->image();
  tell("compiling");
  poplar::Executable executable = session_executable(shape, target, image, &cached);
  tell("loading");
  engine = std::make_unique<poplar::Engine>(std::move(executable), poplar::OptionFlags{{"pando.cycleModel", "false"}});
  engine->load(device);
  seats.resize(std::size_t{shape.tiles} * kSeatWords);
  states.resize(std::size_t{shape.tiles} * kStatusWords);
  texts.resize(std::size_t{shape.tiles} * kOutBytes);
  ended.resize(shape.tiles);
  engine->connectStream("command", command_buffer.data(), command_buffer.data() + command_buffer.size());
  engine->connectStream("seats", seats.data(), seats.data() + seats.size());
  engine->connectStream("outcome", outcome.data(), outcome.data() + outcome.size());
  engine->connectStream("states", states.data(), states.data() + states.size());
  engine->connectStream("texts", texts.data(), texts.data() + texts.size());
  engine->connectStream("text", text.data(), text.data() + text.size());
  if (shape.data_bytes > 0) {
    data.resize(std::size_t{shape.tiles} * shape.data_bytes);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      std::copy(pieces[i].begin(), pieces[i].end(), data.begin() + static_cast<std::ptrdiff_t>(i * shape.data_bytes));
    engine->connectStream("data", data.data(), data.data() + data.size());
    engine->run(kDataProgram);
    std::vector<char>().swap(data);
  }
  options.data.clear();
  select_all();
  if (disks) load_disks();
}

void Session::Impl::load_disks() {
  std::string text;
  const auto send = [&] {
    if (!text.empty()) step(Action::load, text, 0, text.size(), {}, 0);
    text.clear();
  };
  disks->each_block([&](std::uint32_t tile, std::uint32_t block, std::string_view bytes) {
    if (tile >= shape.tiles) return;
    const std::uint32_t head[] = {tile, block, 1};
    if (text.size() + sizeof head + bytes.size() > kTextCapacity) send();
    text.append(reinterpret_cast<const char*>(head), sizeof head).append(bytes);
  });
  send();
}

// What the selected tiles have written since the last save.
void Session::Impl::save_disks(bool at_end) {
  Reply reply;
  for (const unsigned tile : selected) reply.answers.push_back({tile});
  Texts all(selected.size());
  step(Action::save, {}, 0, 0, {}, at_end ? 1 : 0);
  for (collect(all, reply); outcome[kHostWaits]; collect(all, reply)) step(Action::go_on, {}, 0, 0, {}, 0);
  all.finish(reply);
  for (const Answer& answer : reply.answers) {
    std::string_view blocks = reply.texts[answer.text];
    for (; blocks.size() >= 4 + kBlockBytes; blocks.remove_prefix(4 + kBlockBytes)) {
      std::uint32_t block = 0;
      std::memcpy(&block, blocks.data(), sizeof block);
      disks->put(answer.tile, block, blocks.substr(4, kBlockBytes));
    }
  }
  disks->write_back();
}

void Session::Impl::select_all() {
  selected.clear();
  for (unsigned i = 0; i < shape.tiles; ++i) selected.push_back(i);
  write_seats();
}

void Session::Impl::write_seats() {
  for (unsigned i = 0; i < shape.tiles; ++i) {
    std::uint32_t* const seat = &seats[std::size_t{i} * kSeatWords];
    seat[kSelected] = 0;
    seat[kTakingPart] = static_cast<std::uint32_t>(selected.size());
    seat[kFirstTakingPart] = selected.front();
    seat[kAllTiles] = shape.tiles;
    seat[kIpu] = i / shape.tiles_per_ipu;
    seat[kHasData] = options.has_data;
    seat[kDataBytes] = data_bytes.empty() ? 0 : data_bytes[i];
    seat[kDiskBlocks] = shape.disk_blocks;
    seat[kLentBlocks] = shape.lent_blocks;
  }
  for (const unsigned tile : selected) seats[std::size_t{tile} * kSeatWords + kSelected] = 1;
  engine->run(kSeatsProgram);
}

void Session::Impl::step(Action action, std::string_view piece, std::size_t offset, std::size_t total, std::string_view name,
                         unsigned kind) {
  std::uint32_t words[kCommandWords] = {};
  words[kAction] = static_cast<std::uint32_t>(action);
  words[kKind] = kind;
  words[kTotalBytes] = static_cast<std::uint32_t>(total);
  words[kOffset] = static_cast<std::uint32_t>(offset);
  words[kTextBytes] = static_cast<std::uint32_t>(piece.size());
  words[kNameBytes] = static_cast<std::uint32_t>(name.size());
  words[kFuelLow] = static_cast<std::uint32_t>(options.fuel);
  words[kFuelHigh] = static_cast<std::uint32_t>(options.fuel >> 32);
  words[kInterruptSlot] = slot;
  words[kCountedClock] = options.counted_clock;
  std::memcpy(command_buffer.data(), words, sizeof words);
  std::copy(piece.begin(), piece.end(), command_buffer.begin() + sizeof words);
  std::copy(name.begin(), name.end(), command_buffer.begin() + static_cast<std::ptrdiff_t>(sizeof words + piece.size()));
  pando_python_begin_step(slot, shows() ? pando_python_clock_us(nullptr) + kShowAfter : 0);
  engine->run(kStepProgram);
}

// What was said so far goes to who shows it, if there is much of it or it is old: first what all have said; tiles that are ahead of others
// are given time, so that what is equal is shown together.
void Session::Impl::show(Texts& all, const Reply& reply) {
  const std::uint64_t now = pando_python_clock_us(nullptr);
  if (!shows() || all.bytes() == 0 || (all.bytes() < kMostHeld && now < last_shown + kShowAfter)) return;
  Reply said = reply;
  for (Answer& a : said.answers) a = {a.tile};
  std::string common = all.take_common();
  if (!common.empty()) {
    said.texts = {std::move(common)};
  } else {
    if (all.bytes() < kMostHeld && now < last_shown + kShowApart) return;
    all.finish(said);
    all = Texts(selected.size());
  }
  options.output(said);
  last_shown = pando_python_clock_us(nullptr);
}

// What one step brought: texts, and how the command ended where it did.
void Session::Impl::collect(Texts& all, Reply& reply) {
  if (outcome[kUniform]) {
    // The text came from tile 0; where that is not selected, or not alike, the program sends all.
    all.add_to_all({text.data(), std::min<std::size_t>(outcome[kUniformLength], kOutBytes)});
    for (Answer& a : reply.answers) {
      a.ending = ending_of(outcome[kUniformState]);
      a.status = status_of(outcome[kUniformState]);
    }
    return;
  }
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const std::uint32_t* const s = &states[std::size_t{selected[i]} * kStatusWords];
    all.add(i, {&texts[std::size_t{selected[i]} * kOutBytes], std::min(s[kTextLength], kOutBytes)});
    reply.answers[i].ending = ending_of(s[kState]);
    reply.answers[i].status = status_of(s[kState]);
  }
}

std::string Session::Impl::why_stuck() const {
  std::vector<Wait> waits;
  for (const unsigned tile : selected) {
    const std::uint32_t* const s = &states[std::size_t{tile} * kStatusWords];
    Wait w;
    w.tile = tile;
    w.ended = !ended[tile].empty() || ending_of(s[kState]) == Ending::ended || ending_of(s[kState]) == Ending::skipped;
    w.kind = state_of(s[kState]) == State::waits_to_exchange && s[kWaitKind] != kind_flush ? s[kWaitKind] : std::uint32_t{kind_none};
    w.argument = s[kWaitArgument];
    waits.push_back(w);
  }
  return describe(waits);
}

void Session::Impl::give_input(Texts& all, const Reply& reply) {
  const auto wants_rest = [&](unsigned tile) {
    const std::uint32_t* const s = &states[std::size_t{tile} * kStatusWords];
    return state_of(s[kState]) == State::waits_for_input && s[kWaitArgument] == line_given;
  };
  if (line_given == 0 || line_given == line.size() || std::none_of(selected.begin(), selected.end(), wants_rest)) {
    line.clear();
    line_given = 0;
    if (options.input) {
      Reply said = reply;
      all.finish(said);
      all = Texts(selected.size());
      if (options.input(said, line))
        line += '\n';
      else
        line.clear();
    }
  }
  const std::string_view piece = std::string_view(line).substr(line_given, kInputBytes);
  step(Action::input, piece, line_given, line.size(), {}, 0);
  line_given += piece.size();
}

Reply Session::Impl::command(Action action, std::string_view source, Input input, std::string_view name) {
  if (name.size() > 200) name = name.substr(name.size() - 200);
  const std::size_t room = kTextCapacity - name.size();
  Reply reply;
  reply.answers.resize(selected.size());
  for (std::size_t i = 0; i < selected.size(); ++i) reply.answers[i].tile = selected[i];
  Texts all(selected.size());
  line_given = 0;
  last_shown = pando_python_clock_us(nullptr);
  const unsigned kind = input == Input::script ? 0 : input == Input::line ? 1 : 2;
  struct Running {
    explicit Running(unsigned s) : slot(s) { pando_python_begin_command(slot); }
    ~Running() { pando_python_end_command(slot); }
    unsigned slot;
  } running(slot);
  for (std::size_t offset = 0; offset == 0 || offset < source.size(); offset += room)
    step(action, source.substr(offset, room), offset, source.size(), name, kind);
  for (;;) {
    collect(all, reply);
    if (outcome[kHostWaits]) show(all, reply);
    if (outcome[kHostWaits])
      step(Action::go_on, {}, 0, 0, {}, 0);
    else if (outcome[kInputWaits])
      give_input(all, reply);
    else if (outcome[kStuck])
      step(Action::raise, why_stuck(), 0, 0, {}, 0);
    else
      break;
  }
  all.finish(reply);
  if (disks && outcome[kDisksToSave] > 0) save_disks();
  for (const Answer& a : reply.answers)
    if (a.ending == Ending::ended) {
      const std::string& said = reply.texts[a.text];
      ended[a.tile] = said.substr(said.rfind("has ended: ") + 11);
      if (!ended[a.tile].empty()) ended[a.tile].pop_back();
    }
  return reply;
}

template <class Ask>
auto Session::Impl::ask_one(const Ask& ask) {
  const std::vector<unsigned> before = selected;
  for (const unsigned tile : before)
    if (ended[tile].empty()) {
      selected = {tile};
      break;
    }
  if (selected != before) write_seats();
  auto answer = ask();
  if (selected != before) {
    selected = before;
    write_seats();
  }
  return answer;
}

Session::Session(const SessionOptions& options) : impl_(std::make_unique<Impl>(options)) {}

// As at a soft reset: files that are open are closed, and what was written to them is kept.
Session::~Session() {
  if (!impl_->disks) return;
  try {
    impl_->select_all();
    impl_->save_disks(true);
  } catch (const std::exception& error) { fmt::print(stderr, "pando: what was in open files of tiles is not kept: {}\n", error.what()); }
}

void Session::set_output(std::function<void(const Reply&)> output) { impl_->options.output = std::move(output); }

unsigned Session::ipus() const { return impl_->shape.ipus; }
unsigned Session::tiles() const { return impl_->shape.tiles; }
const std::string& Session::disk_notice() const {
  static const std::string none;
  return impl_->disks ? impl_->disks->notice() : none;
}

Reply Session::run(std::string_view source, Input input, std::string_view name) { return impl_->command(Action::run, source, input, name); }

Reply Session::key(char key) { return impl_->command(Action::key, {&key, 1}, Input::line, {}); }

bool Session::is_complete(std::string_view source) { return impl_->host_python->is_complete(source); }

Completion Session::complete(std::string_view line) {
  return impl_->ask_one([&] {
    const Reply reply = impl_->command(Action::complete, line, Input::line, {});
    Completion out;
    (reply.answers.front().ending == Ending::exited ? out.insert : out.candidates) = reply.texts.front();
    return out;
  });
}

void Session::interrupt() noexcept { pando_python_interrupt(impl_->slot); }

void Session::select(const std::vector<unsigned>& tiles) {
  if (tiles.empty()) reject<poplar::invalid_option>("no-tile-selected", "no tile is selected");
  std::vector<unsigned> sorted = tiles;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  if (sorted.back() >= this->tiles())
    reject<poplar::invalid_option>("no-such-tile", "there is no tile {}: tiles are 0 to {}", sorted.back(), this->tiles() - 1);
  impl_->selected = sorted;
  impl_->write_seats();
}

void Session::select_all() {
  std::vector<unsigned> all(tiles());
  for (unsigned i = 0; i < tiles(); ++i) all[i] = i;
  select(all);
}

const std::vector<unsigned>& Session::selected() const { return impl_->selected; }

void Session::reset(const std::vector<unsigned>& tiles) {
  for (const unsigned tile : tiles)
    if (tile >= this->tiles())
      reject<poplar::invalid_option>("no-such-tile", "there is no tile {}: tiles are 0 to {}", tile, this->tiles() - 1);
  for (const unsigned tile : tiles) {
    pando::reset_tile(*impl_->engine, tile);
    impl_->ended[tile].clear();
  }
  impl_->write_seats();  // what the tile was told may have been written over
}

TileState Session::state(unsigned tile) const {
  if (tile >= tiles()) reject<poplar::invalid_option>("no-such-tile", "there is no tile {}: tiles are 0 to {}", tile, tiles() - 1);
  return {!impl_->ended[tile].empty(), impl_->ended[tile]};
}

}  // namespace pando::ontile
