// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: the varve authors
#include "cupti/classify.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace varve::cupti {

namespace {

struct rule {
  std::string_view prefix;
  call_kind kind;
  std::string_view but[2] = {};  // longer ones that are of another kind
};

// For what is not ignored and does not synchronise. No name fits two kinds.
constexpr rule rules[] = {
    {"LaunchHostFunc", call_kind::host_function},
    {"StreamAddCallback", call_kind::host_function},
    {"Launch", call_kind::launch, {"LaunchHostFunc"}},
    {"GraphLaunch", call_kind::graph_launch},
    // Also what asks a graph for its nodes and parameters: engines do so for each node that they update.
    {"Graph", call_kind::graph_build, {"GraphLaunch", "Graphics"}},
    {"StreamBeginCapture", call_kind::graph_build},
    {"StreamEndCapture", call_kind::graph_build},
    {"StreamUpdateCapture", call_kind::graph_build},
    {"Memcpy", call_kind::copy},
    {"MemPrefetch", call_kind::copy},
    {"MemDiscardAndPrefetch", call_kind::copy},
    {"MemBatchDecompress", call_kind::copy},
    {"Memset", call_kind::set},
    {"Event", call_kind::event, {"EventQuery", "EventSynchronize"}},
    {"CtxRecordEvent", call_kind::event},
    {"CtxWaitEvent", call_kind::event},
    {"GreenCtxRecordEvent", call_kind::event},
    {"GreenCtxWaitEvent", call_kind::event},
    {"StreamWaitEvent", call_kind::event},
    // Streams that wait for a word in memory or write it order work as events do.
    {"StreamWaitValue", call_kind::event},
    {"StreamWriteValue", call_kind::event},
    {"StreamBatchMemOp", call_kind::event},
    {"SignalExternalSemaphores", call_kind::event},
    {"WaitExternalSemaphores", call_kind::event},
    {"Malloc", call_kind::allocate},
    {"Free", call_kind::allocate},
    {"HostAlloc", call_kind::allocate},
    {"HostRegister", call_kind::allocate},
    {"HostUnregister", call_kind::allocate},
    {"MemAlloc", call_kind::allocate},
    {"MemFree", call_kind::allocate},
    {"MemHostAlloc", call_kind::allocate},
    {"MemHostRegister", call_kind::allocate},
    {"MemHostUnregister", call_kind::allocate},
    {"MemCreate", call_kind::allocate},
    {"MemRelease", call_kind::allocate},
    {"MemMap", call_kind::allocate},
    {"MemUnmap", call_kind::allocate},
    {"MemAddressReserve", call_kind::allocate},
    {"MemAddressFree", call_kind::allocate},
    {"MemSetAccess", call_kind::allocate},
    {"MemDiscardBatch", call_kind::allocate},
    {"MemPoolCreate", call_kind::allocate},
    {"MemPoolDestroy", call_kind::allocate},
    {"MemPoolTrimTo", call_kind::allocate},
    {"DeviceGraphMemTrim", call_kind::allocate},
    {"Array3DCreate", call_kind::allocate},
    {"ArrayCreate", call_kind::allocate},
    {"ArrayDestroy", call_kind::allocate},
    {"MipmappedArrayCreate", call_kind::allocate},
    {"MipmappedArrayDestroy", call_kind::allocate},
    {"IpcOpenMemHandle", call_kind::allocate},
    {"IpcCloseMemHandle", call_kind::allocate},
    {"MulticastBind", call_kind::allocate},
    {"MulticastUnbind", call_kind::allocate},
};

// These neither do nor delay work on a device, as far as a report is concerned. Families are those of one
// object only: what a new CUDA brings is to be looked at, not to be ignored by chance.
constexpr std::string_view ignored[] = {
    // Starting, devices, contexts, errors, versions.
    "Init", "InitDevice", "InitModule", "ThreadExit", "ThreadGet*", "ThreadSet*", "ChooseDevice", "GetDevice",
    "GetDeviceCount", "GetDeviceFlags", "GetDeviceProperties", "SetDevice", "SetDeviceFlags",
    "SetValidDevices", "SetDoubleForDevice", "SetDoubleForHost", "DeviceCanAccessPeer",
    "DeviceComputeCapability", "DeviceDisablePeerAccess", "DeviceEnablePeerAccess",
    "DeviceFlushGPUDirectRDMAWrites", "DeviceGet*", "DevicePrimaryCtx*", "DeviceRegisterAsyncNotification",
    "DeviceReset", "DeviceSet*", "DeviceTotalMem", "DeviceUnregisterAsyncNotification",
    "DevResourceGenerateDesc", "DevSmResourceSplitByCount", "FlushGPUDirectRDMAWrites", "CtxAttach",
    "CtxCreate", "CtxDestroy", "CtxDetach", "CtxDisablePeerAccess", "CtxEnablePeerAccess", "CtxFromGreenCtx",
    "CtxGet*", "CtxPopCurrent", "CtxPushCurrent", "CtxResetPersistingL2Cache", "CtxSet*", "GreenCtxCreate",
    "GreenCtxDestroy", "GreenCtxGetDevResource", "GreenCtxGetId", "GreenCtxStreamCreate", "GetErrorName",
    "GetErrorString", "GetLastError", "PeekAtLastError", "DriverGetGpuCodeIsaVersion", "DriverGetVersion",
    "RuntimeGetVersion", "GetDriverEntryPoint", "GetDriverEntryPointByVersion", "GetExportTable",
    "GetProcAddress",
    // Code: what is loaded, linked, registered and asked of it, and arguments of launches of old.
    "BinaryFree", "CompilePtx", "ConfigureCall", "FuncGet*", "FuncIsLoaded", "FuncLoad", "FuncSet*",
    "GetFuncBySymbol", "GetKernel", "GetSymbolAddress", "GetSymbolSize", "KernelGet*", "KernelSet*",
    "LibraryEnumerateKernels", "LibraryGet*", "LibraryLoad*", "LibraryUnload", "Link*",
    "ModuleEnumerateFunctions", "ModuleGet*", "ModuleLoad*", "ModuleUnload",
    "MultiKernelCooperativeDomainCreate", "MultiKernelCooperativeDomainDestroy", "Occupancy*", "ParamSet*",
    "PopCallConfiguration", "PushCallConfiguration", "RegisterFatBinary", "RegisterFatBinaryEnd",
    "RegisterFunction", "RegisterHostVar", "RegisterManagedVar", "RegisterUnifiedTable", "RegisterVar",
    "SetupArgument", "TensorMap*", "UnregisterFatBinary",
    // Streams and events. Engines poll some of these, which never wait.
    "EventQuery", "StreamAttachMemAsync", "StreamCopyAttributes", "StreamCreate",
    "StreamCreateForCaptureToCig", "StreamCreateWithFlags", "StreamCreateWithPriority", "StreamDestroy",
    "StreamGet*", "StreamIsCapturing", "StreamQuery", "StreamSetAttribute", "StreamSetFlags",
    "ThreadExchangeStreamCaptureMode", "UserObject*",
    // Memory: what neither allocates, maps nor moves it.
    "HostGetDevicePointer", "HostGetFlags", "IpcGetEventHandle", "IpcGetMemHandle", "IpcOpenEventHandle",
    "MemAdvise", "MemExportToShareableHandle", "MemGet*", "MemHostGetDevicePointer", "MemHostGetFlags",
    "MemImportFromShareableHandle", "MemPeerGetDevicePointer", "MemPeerRegister", "MemPeerUnregister",
    "MemPoolExportPointer", "MemPoolExportToShareableHandle", "MemPoolGet*",
    "MemPoolImportFromShareableHandle", "MemPoolImportPointer", "MemPoolSetAccess", "MemPoolSetAttribute",
    "MemRangeGet*", "MemRetainAllocationHandle", "MemSetMemPool", "MulticastAddDevice", "MulticastCreate",
    "MulticastGetGranularity", "NNSetAllocator", "PeerGetDevicePointer", "PeerRegister", "PeerUnregister",
    "PointerGet*", "PointerSetAttribute",
    // Arrays, textures, surfaces.
    "Array3DGetDescriptor", "ArrayGetDescriptor", "ArrayGetInfo", "ArrayGetMemoryRequirements",
    "ArrayGetPlane", "ArrayGetSparseProperties", "BindSurfaceToArray", "BindTexture*", "CreateChannelDesc",
    "CreateSurfaceObject", "CreateTextureObject", "DestroySurfaceObject", "DestroyTextureObject",
    "GetChannelDesc", "GetMipmappedArrayLevel", "GetSurface*", "GetTexture*", "MipmappedArrayGetLevel",
    "MipmappedArrayGetMemoryRequirements", "MipmappedArrayGetSparseProperties", "SurfObject*", "SurfRef*",
    "TexObject*", "TexRef*", "UnbindTexture",
    // Other interfaces to the device, and tools.
    "Checkpoint*", "Coredump*", "D3D10*", "D3D11*", "D3D9*", "DestroyExternalMemory",
    "DestroyExternalSemaphore", "EGLStream*", "ExternalMemoryGetMappedBuffer",
    "ExternalMemoryGetMappedMipmappedArray", "GL*", "Graphics*", "ImportExternalMemory",
    "ImportExternalSemaphore", "Logs*", "NVN*", "Profiler*", "SemaphoreCreate", "SemaphoreDestroy",
    "SemaphoreExport", "VDPAU*", "WGLGetDevice"};

// "__cudaLaunchKernel_ptsz_v13000" → "LaunchKernel", "cu64MemAlloc" → "MemAlloc"; empty for no call of CUDA.
std::string_view base_name(std::string_view name) noexcept {
  std::size_t prefix = 0;
  for (const std::string_view text : {"__cuda", "cuda", "cu64", "cu"}) {
    if (name.starts_with(text)) {
      prefix = text.size();
      break;
    }
  }
  if (prefix == 0) {
    return {};
  }
  name.remove_prefix(prefix);
  for (;;) {
    const std::size_t underscore = name.rfind('_');
    if (underscore == std::string_view::npos) {
      return name;
    }
    const std::string_view suffix = name.substr(underscore + 1);
    const bool is_version = suffix.size() > 1 && suffix.front() == 'v' &&
                            suffix.find_first_not_of("0123456789", 1) == std::string_view::npos;
    if (!is_version && suffix != "ptsz" && suffix != "ptds") {
      return name;
    }
    name = name.substr(0, underscore);
  }
}

bool is_ignored(std::string_view base) noexcept {
  return std::any_of(std::begin(ignored), std::end(ignored), [&](std::string_view pattern) {
    return pattern.ends_with('*') ? base.starts_with(pattern.substr(0, pattern.size() - 1)) : base == pattern;
  });
}

bool synchronises(std::string_view base) noexcept {
  return base.find("Synchronize") != std::string_view::npos;
}

bool fits(std::string_view base, const rule& r) noexcept {
  return base.starts_with(r.prefix) &&
         std::none_of(std::begin(r.but), std::end(r.but),
                      [&](std::string_view but) { return !but.empty() && base.starts_with(but); });
}

}  // namespace

std::span<const std::string_view> ignored_calls() noexcept { return ignored; }

int kinds_that_fit(std::string_view name) noexcept {
  const std::string_view base = base_name(name);
  if (base.empty()) {
    return 0;
  }
  std::uint32_t kinds = 0;
  const auto add = [&](call_kind kind) { kinds |= 1U << static_cast<unsigned>(kind); };
  if (is_ignored(base)) {
    add(call_kind::other);
  }
  if (synchronises(base)) {
    add(call_kind::synchronise);
  }
  for (const rule& r : rules) {
    if (fits(base, r)) {
      add(r.kind);
    }
  }
  return std::popcount(kinds);
}

std::optional<call_kind> classify(std::string_view name) noexcept {
  const std::string_view base = base_name(name);
  if (base.empty()) {
    return std::nullopt;
  }
  if (is_ignored(base)) {
    return call_kind::other;
  }
  if (synchronises(base)) {
    return call_kind::synchronise;
  }
  const auto* const found =
      std::find_if(std::begin(rules), std::end(rules), [&](const rule& r) { return fits(base, r); });
  return found != std::end(rules) ? std::optional{found->kind} : std::nullopt;
}

}  // namespace varve::cupti
