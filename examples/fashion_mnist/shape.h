// The network's sizes and how they are cut up, for the host and for the codelets.
#pragma once

// 784 pixels -> 240 hidden units (ReLU) -> 10 classes.
constexpr unsigned kPixels = 784;
constexpr unsigned kHidden = 240;
constexpr unsigned kClasses = 10;

// A batch of 240 images is cut into six parts of 40, one for each of a tile's six workers.
constexpr unsigned kBatch = 240;
constexpr unsigned kParts = 6;
constexpr unsigned kSamples = kBatch / kParts;
// The loss cuts a part further, into five groups of eight: 30 groups, one on each of 30 tiles.
constexpr unsigned kGroupSamples = 8;
constexpr unsigned kGroups = kSamples / kGroupSamples;

// The first layer's weights are cut into 49 x 30 blocks of 16 pixels x 8 units: one block on each of 1,470 tiles.
constexpr unsigned kRows = 49;
constexpr unsigned kColumns = 30;
constexpr unsigned kBlockPixels = kPixels / kRows;
constexpr unsigned kBlockUnits = kHidden / kColumns;

// The label of an image that only fills up the last batch.
constexpr unsigned char kNoLabel = 255;

static_assert(kParts * kSamples == kBatch && kRows * kBlockPixels == kPixels && kColumns * kBlockUnits == kHidden &&
                  kGroups * kGroupSamples == kSamples,
              "even cuts");
