// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")
let subprocess: Target.Dependency = .product(name: "Subprocess", package: "swift-subprocess")
let systemPackage: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let arguments: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"),
    .product(name: "NIOPosix", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"),
    .product(name: "NIOWebSocket", package: "swift-nio"),
]
let unixSignals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let httpClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let histogram: Target.Dependency = .product(name: "Histogram", package: "hdrhistogram-swift")
let hummingbird: [Target.Dependency] = [
    .product(name: "Hummingbird", package: "hummingbird"),
    .product(name: "HummingbirdCore", package: "hummingbird"),
    .product(name: "HTTPTypes", package: "swift-http-types"),
]
let nioHTTPTypes: Target.Dependency = .product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let hummingbirdTLS: Target.Dependency = .product(name: "HummingbirdTLS", package: "hummingbird")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")

func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: ["LiveTesting"] + dependencies, swiftSettings: settings)
}

var targets: [Target] = [
    .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CSecp256k1", pkgConfig: "libsecp256k1", providers: [.apt(["libsecp256k1-dev"])]),
    library("Errors", []),
    library("ProcessSupport", []),
    library("TLSCodec", []),
    library("CallWire", []),
    library("MLS", ["Errors", "TLSCodec", "CSodium", crypto]),
    library("Nostr", ["Errors", "CSodium", "CSecp256k1", crypto]),
    library("Marmot", ["Errors", "MLS", "TLSCodec", "Nostr"]),
    library("NetworkAddresses", ["Nostr", httpClient] + nio),
    library("Appliance", ["Errors", "Nostr"]),
    library("EpicuraSimulator", ["Appliance", "Nostr", lifecycle] + nio),
    library("PikaCore", ["Errors", "Marmot", "MLS", "Nostr", logging, metrics]),
    library("CallMedia", ["PikaCore", "Marmot", "MLS", "Nostr"]),
    library(
        "RelayClient",
        ["Errors", "NetworkAddresses", "Nostr", "PikaCore", logging, metrics, lifecycle, nioSSL] + nio),
    library(
        "CallTransport",
        ["CallMedia", "CallWire", "NetworkAddresses", "RelayClient", "PikaCore", "Nostr", logging]),
    library("BlossomClient", ["Errors", "NetworkAddresses", "PikaCore", "Nostr", httpClient, logging] + nio),
    library("FeedRules", ["Errors", "PikaCore", "Nostr", crypto]),
    library(
        "Feeds",
        [
            "Errors", "FeedRules", "ProcessSupport", "PikaCore", "RelayClient", "Nostr", crypto, httpClient, subprocess,
            systemPackage,
            lifecycle, logging, metrics,
        ] + hummingbird + nio),
    library("Storage", ["Errors", "ProcessSupport", "PikaCore", "MLS", "Nostr", "CSodium", grdb]),
    library("BotStorage", ["Errors", "BotKit", "PikaCore", "Storage", grdb]),
    library("EmbeddedRelay", ["CallWire", "Errors", "Nostr", crypto, grdb, logging, lifecycle] + nio),
    library("BotKit", ["CallMedia", "Errors", "PikaCore", "Marmot", "Nostr", logging]),
    library("ProbeReports", ["BotKit", "Nostr"]),
    library("BotDispatch", ["BotKit", "CallMedia", "Errors", "PikaCore", "Nostr", lifecycle, logging, metrics]),
    library("Telemetry", ["Errors", lifecycle, logging, metrics] + nio),
    library("BotConfiguration", ["BotKit", "BotDispatch", "Errors", "ProcessSupport", "PikaCore", "Nostr", yams]),
    library(
        "ExternalBots",
        [
            "BotKit", "BotDispatch", "CallMedia", "Daemon", "Errors", "ProcessSupport", "PikaCore", "Nostr", subprocess,
            systemPackage, lifecycle, logging, metrics,
        ]),
    library(
        "BotRuntime",
        [
            "BotConfiguration", "BotKit", "BotDispatch", "BotStorage", "BlossomClient", "CallMedia", "CallTransport",
            "ConsoleReports", "Diagnosis", "Errors", "ExternalBots", "Feeds", "NetworkAddresses", "ProbeReports",
            "ProcessSupport", "Telemetry", "PikaCore",
            "Marmot",
            "Nostr",
            "RelayClient", "Storage",
            lifecycle, unixSignals, logging, metrics, httpClient, subprocess, systemPackage,
        ] + nio),
    library(
        "BotTesting",
        [
            "BotKit", "BotDispatch", "BotStorage", "CallMedia", "Errors", "PikaCore", "Marmot", "MLS", "Nostr",
            "EmbeddedRelay", "Storage", logging,
        ]),
    library("ConsoleReports", []),
    library("ConsolePages", ["ConsoleReports"]),
    library(
        "ConsoleServer",
        [
            "ConsolePages", "ConsoleReports", "Errors", "Nostr", "PikaCore", "Telemetry", crypto, lifecycle, logging,
            nioSSL,
        ]
            + hummingbird + [hummingbirdTLS, nioHTTPTypes] + nio),
    library(
        "Supervisor",
        ["Errors", "ProcessSupport", "Telemetry", subprocess, systemPackage, lifecycle, logging, metrics] + nio),
    library(
        "Daemon",
        ["CallMedia", "Errors", "ProcessSupport", "PikaCore", "Nostr", crypto, logging, metrics, lifecycle] + nio),
    .target(
        name: "EchoBot", dependencies: ["BotKit"], path: "bots/echo", exclude: ["README.md"], swiftSettings: settings),
    .target(
        name: "ResponderBot", dependencies: ["BotKit"], path: "bots/responder", exclude: ["README.md"],
        swiftSettings: settings),
    .target(
        name: "KeyPackageProbeBot", dependencies: ["BotKit", "ProbeReports"], path: "bots/keypackage-probe",
        exclude: ["README.md"],
        swiftSettings: settings),
    .target(
        name: "NotesBot", dependencies: ["BotKit"], path: "bots/notes", exclude: ["README.md"],
        swiftSettings: settings),
    .target(
        name: "EpicuraBot", dependencies: ["Appliance", "BotKit"], path: "bots/epicura",
        exclude: ["README.md", "pairing"],
        swiftSettings: settings),
    .target(
        name: "VoicemailBot", dependencies: ["BotKit"], path: "bots/voicemail", exclude: ["README.md"],
        swiftSettings: settings),
    .target(
        name: "GroupCanaryBot", dependencies: ["BotKit"], path: "bots/group-canary", exclude: ["README.md"],
        swiftSettings: settings),
    .target(
        name: "RelayProbeBot", dependencies: ["BotKit", "ProbeReports"], path: "bots/relay-probe",
        exclude: ["README.md"],
        swiftSettings: settings),
    library(
        "Diagnosis",
        [
            "Errors", "ProbeReports", "NetworkAddresses", "RelayClient", "PikaCore", "Marmot", "MLS", "Nostr",
            httpClient,
            nioSSL, nioTLS, logging,
        ] + nio),
    library("ConvergenceNode", ["MLS", "Nostr", "PikaCore"]),
    library("LoadReport", ["Errors", histogram]),
    library(
        "Load",
        [
            "LoadReport", "BotKit", "Errors", "NetworkAddresses", "Telemetry", "RelayClient", "Storage", "PikaCore",
            "MLS", "Nostr", logging,
        ] + nio),
    library(
        "BotProgram",
        [
            "BotConfiguration", "BotKit", "BotRuntime", "ConsolePages", "ConsoleReports", "ConsoleServer", "Diagnosis",
            "Errors", "ProbeReports", "ProcessSupport", "Supervisor", "Telemetry",
            "Storage", "PikaCore", "Nostr", arguments, lifecycle, unixSignals, logging,
        ]
    ),
    .executableTarget(
        name: "pikabot",
        dependencies: [
            "BotProgram", "BotConfiguration", "BotRuntime", "BotKit", "BlossomClient", "CallMedia", "CallTransport",
            "ConvergenceNode", "Daemon",
            "EchoBot", "EpicuraBot", "EpicuraSimulator", "GroupCanaryBot", "Load", "LoadReport", "KeyPackageProbeBot",
            "NetworkAddresses", "NotesBot", "ProbeReports", "RelayProbeBot", "VoicemailBot",
            "ProcessSupport", "ResponderBot", "Supervisor", "Telemetry", "EmbeddedRelay", "RelayClient", "Storage",
            "PikaCore", "Marmot", "MLS", "Nostr", arguments, lifecycle, unixSignals, logging,
        ],
        swiftSettings: settings),
    .target(name: "LiveTesting", path: "Tests/LiveTesting", swiftSettings: settings),
    // A group member that Tests/Interop drives by lines of JSON.
    .executableTarget(
        name: "pikabot-lab",
        dependencies: [
            "BotConfiguration", "BotProgram", "BotRuntime", "NetworkAddresses", "PikaCore", "Nostr", arguments,
            lifecycle,
            logging,
        ],
        path: "Tests/LabMember", swiftSettings: settings),
    tests("ApplianceTests", ["Appliance", "Errors", "Nostr", grdb]),
    tests("EpicuraSimulatorTests", ["Appliance", "EpicuraSimulator", "Nostr", httpClient] + nio),
    tests("TLSCodecTests", ["TLSCodec"]),
    tests("MLSTests", ["MLS", "TLSCodec", crypto]),
    .testTarget(
        name: "NostrTests", dependencies: ["LiveTesting", "Nostr"], exclude: ["Vectors"], swiftSettings: settings),
    tests("MarmotTests", ["Errors", "Marmot", "MLS", "Nostr", "TLSCodec"]),
    tests("NetworkAddressesTests", ["NetworkAddresses", "Nostr"]),
    tests("PikaCoreTests", ["PikaCore", "Errors", "Marmot", "MLS", "TLSCodec", "Nostr", "BotTesting"]),
    tests("CallMediaTests", ["CallMedia", "BotTesting", "PikaCore", "MLS", "Nostr"]),
    tests(
        "RelayClientTests",
        [
            "Errors", "RelayClient", "NetworkAddresses", "EmbeddedRelay", "PikaCore", "Nostr", logging, nioSSL,
            .product(name: "NIOEmbedded", package: "swift-nio"),
        ] + nio),
    tests(
        "BlossomClientTests",
        ["Errors", "BlossomClient", "NetworkAddresses", "EmbeddedRelay", "PikaCore", "Nostr", crypto, logging] + nio),
    tests(
        "FeedsTests",
        [
            "FeedRules", "Feeds", "BotTesting", "Errors", "EmbeddedRelay", "PikaCore", "RelayClient", "Nostr", crypto,
            httpClient,
            lifecycle,
            logging,
        ] + nio),
    tests(
        "CallTransportTests",
        [
            "BotTesting", "CallMedia", "CallTransport", "CallWire", "EmbeddedRelay", "NetworkAddresses", "PikaCore",
            logging,
        ]),
    tests(
        "EmbeddedRelayTests", ["CallWire", "Errors", "EmbeddedRelay", "Nostr", crypto, lifecycle, logging, grdb] + nio),
    tests("StorageTests", ["Storage", "Errors", "PikaCore", "Marmot", "MLS", "Nostr", grdb]),
    tests("BotStorageTests", ["BotStorage", "BotKit", "BotTesting", "Errors", "PikaCore", "Nostr", "Storage", grdb]),
    tests("TelemetryTests", ["Errors", "Telemetry", lifecycle, logging, metrics] + nio),
    tests(
        "ExternalBotsTests",
        [
            "ExternalBots", "BotKit", "BotDispatch", "BotTesting", "CallMedia", "Daemon", "ProcessSupport", "PikaCore",
            "MLS", "Nostr", lifecycle, logging,
        ]),
    tests(
        "KeyPackageProbeBotTests",
        ["KeyPackageProbeBot", "ProbeReports", "BotKit", "BotDispatch", "BotTesting", "PikaCore", "Nostr"]),
    tests(
        "EpicuraBotTests",
        [
            "Appliance", "EpicuraBot", "EpicuraSimulator", "BotKit", "BotDispatch", "BotTesting", "Errors", "PikaCore",
            "Nostr",
        ]),
    tests(
        "VoicemailBotTests", ["VoicemailBot", "BotKit", "BotDispatch", "BotTesting", "CallMedia", "PikaCore", "Nostr"]),
    tests("GroupCanaryBotTests", ["GroupCanaryBot", "BotKit", "BotDispatch", "BotTesting", "PikaCore", "Nostr"]),
    tests(
        "RelayProbeBotTests", ["RelayProbeBot", "ProbeReports", "BotKit", "BotTesting", "PikaCore", "Nostr", logging]),
    tests("ResponderBotTests", ["ResponderBot", "BotKit", "BotTesting", "PikaCore", "Nostr", logging]),
    .testTarget(
        name: "BotConfigurationTests",
        dependencies: [
            "LiveTesting", "BotConfiguration", "BotKit", "BotDispatch", "EchoBot", "PikaCore", "Nostr", "ResponderBot",
            "ProcessSupport",
        ], exclude: ["Wrong"], swiftSettings: settings),
    tests(
        "BotRuntimeTests",
        [
            "BotRuntime", "BotConfiguration", "ExternalBots", "BotKit", "BotDispatch", "BotStorage", "BotTesting",
            "CallMedia",
            "EchoBot", "NotesBot", "Errors", "Telemetry", "EmbeddedRelay", "NetworkAddresses", "ProbeReports",
            "RelayClient",
            "PikaCore", "Nostr", "ProcessSupport", lifecycle, logging, metrics,
        ] + nio),
    tests(
        "PikabotTests",
        [
            "Errors", "pikabot", "BotProgram", "BotConfiguration", "BotRuntime", "BotKit", "BotTesting", "Diagnosis",
            "EmbeddedRelay", "NetworkAddresses", "ProbeReports", "RelayClient", "Supervisor", "Telemetry", "Storage",
            "PikaCore", "MLS", "Nostr", arguments, logging,
        ]),
    tests(
        "DiagnosisTests",
        ["Diagnosis", "ProbeReports", "BotKit", "EmbeddedRelay", "PikaCore", "Marmot", "MLS", "Nostr", logging, nioSSL]
            + nio),
    tests("LabMemberTests", ["pikabot-lab", "Nostr"]),
    tests("ConvergenceNodeTests", ["ConvergenceNode", "BotTesting", "MLS", "PikaCore", "Nostr"]),
    tests("LoadReportTests", ["LoadReport", histogram]),
    tests(
        "LoadTests",
        ["Load", "LoadReport", "BotKit", "BotConfiguration", "EmbeddedRelay", "PikaCore", "Nostr", lifecycle, logging]
            + nio),
    tests(
        "DaemonTests",
        ["Daemon", "BotTesting", "CallMedia", "ProcessSupport", "PikaCore", "Nostr", crypto, lifecycle, logging] + nio),
    tests("ConsolePagesTests", ["ConsolePages", "ConsoleReports"]),
    tests(
        "ConsoleServerTests",
        ["ConsolePages", "ConsoleReports", "ConsoleServer", "Nostr", httpClient, lifecycle, logging] + nio),
    tests("ProcessSupportTests", ["ProcessSupport"]),
    tests("SupervisorTests", ["Supervisor", "ProcessSupport", "Telemetry", lifecycle, logging, metrics]),
]

// Benchmarks and the fuzzing program: built only when PIKABOT_ONLY names them.
func benchmark(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Tests/Benchmarks/Sources/\(name)", swiftSettings: settings)
}

let tools: [Target] = [
    .systemLibrary(
        name: "CFloorSodium", path: "Tests/Benchmarks/Sources/CFloorSodium", pkgConfig: "libsodium",
        providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CMalloc", path: "Tests/Benchmarks/Sources/CMalloc"),
    .target(name: "CAllocations", path: "Tests/Benchmarks/Sources/CAllocations"),
    benchmark("mls-benchmarks", ["CFloorSodium", "MLS", "PikaCore", "TLSCodec", crypto]),
    benchmark("group-benchmarks", ["CMalloc", "MLS", "Marmot", "Nostr", "PikaCore", "Storage"]),
    benchmark("state-benchmarks", ["CAllocations", "MLS", "Marmot", "Nostr", "PikaCore", "Storage", logging]),
    benchmark(
        "echo-latency",
        ["EmbeddedRelay", "NetworkAddresses", "Nostr", "PikaCore", "RelayClient", "Storage", logging]),
    benchmark(
        "console-benchmarks",
        ["ConsolePages", "ConsoleReports", "ConsoleServer", "Telemetry", httpClient, logging] + nio),
    // Links only with `--sanitize fuzzer`, which brings `main`; Tests/Fuzzing/run has all flags.
    .executableTarget(
        name: "fuzz",
        dependencies: [
            "Appliance", "CallWire", "TLSCodec", "MLS", "Nostr", "Marmot", "PikaCore", "ConvergenceNode", "FeedRules",
            crypto,
        ],
        path: "Tests/Fuzzing/Sources/fuzz", swiftSettings: settings,
        // gold, the default, fails on the sanitizers' debug information.
        linkerSettings: [.unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux]))]),
]

// PIKABOT_ONLY=NostrTests,… builds only these targets and their dependencies.
if let only = Context.environment["PIKABOT_ONLY"] {
    targets += tools
    var wanted = Set(only.split(separator: ",").map(String.init))
    var grew = true
    while grew {
        grew = false
        for target in targets where wanted.contains(target.name) {
            for dependency in target.dependencies {
                if case .byNameItem(let name, _) = dependency, wanted.insert(name).inserted { grew = true }
            }
        }
    }
    targets = targets.filter { wanted.contains($0.name) }
}

/// The libraries for other packages. The other targets are parts of the programs.
let products = ["BotKit", "BotProgram", "BotTesting", "MLS", "TLSCodec", "Nostr", "Marmot"]

let package = Package(
    name: "pikabot",
    platforms: [.macOS(.v15)],
    products: targets.map(\.name).filter(products.contains).map { .library(name: $0, targets: [$0]) },
    dependencies: [
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types.git", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2"),
    ],
    targets: targets
)
