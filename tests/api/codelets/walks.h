// Loops over two fields, as a vertex and a test run them: `In` and `Out` are pointers, or what writes down where it was used.
#pragma once

constexpr int kWalks = 10;

template <class In, class Out>
void walk(int how, In in, Out out, int begin, int end) {
  switch (how) {
    case 0:
      for (int i = begin; i < end; ++i) out[i] = in[i] * 2;
      break;
    case 1:
      for (int i = end - 1; i >= begin; --i) out[i] = in[i + 1] + 1;
      break;
    case 2:
      for (int i = begin; i < end; i += 3) out[i] = in[i] - 1;
      break;
    case 3:
      for (int i = begin; i < end && in[i] != 7; ++i) out[i] = in[i] * 3;  // may end before it is outside
      break;
    case 4:
      for (int i = begin; i < end; ++i)
        if (i % 3 == 1) out[i] = in[i];
      break;
    case 5:
      for (int i = begin; i < end; ++i) out[begin] += in[i];
      break;
    case 6:
      for (int i = begin; i < end; ++i)
        for (int k = 0; k < 3; ++k) out[i] += in[i + 2 * k];
      break;
    case 7:
      for (int i = begin; i < end; ++i) out[i] = in[static_cast<int>(in[i])];  // some are indices
      break;
    case 8:
      for (auto i = static_cast<unsigned>(begin); i != static_cast<unsigned>(end); ++i) out[static_cast<int>(i)] = in[begin];
      break;
    default:
      for (int i = begin; i < end; ++i) out[i] = out[i - 4] + in[i];  // each needs what came before
      break;
  }
}
