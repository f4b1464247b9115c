// The spectrogram of a tone that rises, as a picture: windows of the sound, their spectra in one transform, and how
// loud each frequency is. The picture must show the tone where it is.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <string>
#include <vector>

#include "troupe/troupe.hpp"

using namespace troupe;

constexpr double kRate = 8000;             // samples in a second
constexpr std::int64_t kSamples = 16'000;  // two seconds
constexpr std::int64_t kWindow = 256;      // samples of a spectrum
constexpr std::int64_t kStep = 64;         // from one window to the next
constexpr std::int64_t kHalf = kWindow / 2 + 1;
constexpr std::int64_t kWindows = (kSamples - kWindow) / kStep + 1;

/// The tone rises from 200 to 3200 Hz.
double frequency_at(double second) { return 200 + 1500 * second; }

/// Windows of the sound, one below the other, each faded in and out.
std::vector<float> windows() {
  std::vector<float> all;
  for (std::int64_t window = 0; window < kWindows; ++window)
    for (std::int64_t i = 0; i < kWindow; ++i) {
      const double second = static_cast<double>(window * kStep + i) / kRate;
      const double turns = 200 * second + 750 * second * second;
      const double fade = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / kWindow);
      all.push_back(static_cast<float>(fade * std::sin(2 * std::numbers::pi * turns)));
    }
  return all;
}

// example: Fft, FftOptions, FftNorm
Task<Result<HostArray<float>>> spectrogram(Device device, std::vector<float> sound) {
  const Array<float> x = CO_TRY(device.array<float>({kWindows, kWindow}));
  const Array<std::complex<float>> y = CO_TRY(device.array<std::complex<float>>({kWindows, kHalf}));
  const Array<float> loudness = CO_TRY(device.array<float>({kWindows, kHalf}));
  CO_TRY(co_await device.write(x, std::span<const float>(sound)));
  CO_TRY(co_await device.fft().forward(x, y, {.axes = -1, .norm = FftNorm::forward}));
  const Array<std::complex<float>> numbers = CO_TRY(y.reshape({kWindows, kHalf, 1}));
  CO_TRY(co_await device.tensor().reduce(Reduction::norm, numbers, {2}, loudness));
  co_return co_await device.read(loudness);
}
// end

/// Time goes to the right and frequencies upwards; a portable grey map, which most viewers show.
void write_picture(const std::string& path, const HostArray<float>& loudness) {
  std::ofstream out(path, std::ios::binary);
  out << "P5\n" << kWindows << " " << kHalf << "\n255\n";
  for (std::int64_t bin = kHalf - 1; bin >= 0; --bin)
    for (std::int64_t window = 0; window < kWindows; ++window) {
      const double decibels = 20 * std::log10(static_cast<double>(loudness[window * kHalf + bin]) + 1e-6);
      out.put(static_cast<char>(static_cast<unsigned char>(std::min(255.0, std::max(0.0, 255 + 4 * decibels)))));
    }
}

int main(int count, char** words) {
  System system;
  const Device device = value(system.device(0));
  const HostArray<float> loudness = value(system.run(spectrogram(device, windows())));
  const std::string path = count > 1 ? words[1] : "spectrogram.pgm";
  write_picture(path, loudness);

  const std::vector<double> frequencies = rfftfreq(kWindow, 1 / kRate);
  std::int64_t wrong = 0;
  for (std::int64_t window = 0; window < kWindows; ++window) {
    const float* const row = loudness.begin() + window * kHalf;
    const double loudest = frequencies[static_cast<std::size_t>(std::max_element(row, row + kHalf) - row)];
    const double second = (static_cast<double>(window * kStep) + kWindow / 2.0) / kRate;
    wrong += std::abs(loudest - frequency_at(second)) > kRate / kWindow ? 1 : 0;
  }
  std::printf("%s: %lld by %lld, the tone is beside its place in %lld windows\n", path.c_str(),
              static_cast<long long>(kWindows), static_cast<long long>(kHalf), static_cast<long long>(wrong));
  return wrong == 0 ? 0 : 1;
}
