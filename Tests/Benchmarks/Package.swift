// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "mls-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "pikabot", path: "../.."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .systemLibrary(name: "CFloorSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CMalloc"),
        .target(name: "CAllocations"),
        .executableTarget(
            name: "mls-benchmarks",
            dependencies: [
                "CFloorSodium", .product(name: "MLS", package: "pikabot"),
                .product(name: "TLSCodec", package: "pikabot"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault"),
                .treatAllWarnings(as: .error),
            ]),
        .executableTarget(
            name: "group-benchmarks",
            dependencies: [
                "CMalloc",
                .product(name: "MLS", package: "pikabot"), .product(name: "Marmot", package: "pikabot"),
                .product(name: "Nostr", package: "pikabot"), .product(name: "PikaCore", package: "pikabot"),
                .product(name: "Storage", package: "pikabot"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault"),
                .treatAllWarnings(as: .error),
            ]),
        .executableTarget(
            name: "state-benchmarks",
            dependencies: [
                "CAllocations", .product(name: "MLS", package: "pikabot"),
                .product(name: "Marmot", package: "pikabot"), .product(name: "Nostr", package: "pikabot"),
                .product(name: "PikaCore", package: "pikabot"), .product(name: "Storage", package: "pikabot"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault"),
                .treatAllWarnings(as: .error),
            ]),
        .executableTarget(
            name: "echo-latency",
            dependencies: [
                .product(name: "EmbeddedRelay", package: "pikabot"),
                .product(name: "NetworkAddresses", package: "pikabot"),
                .product(name: "Nostr", package: "pikabot"), .product(name: "PikaCore", package: "pikabot"),
                .product(name: "RelayClient", package: "pikabot"), .product(name: "Storage", package: "pikabot"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault"),
                .treatAllWarnings(as: .error),
            ]),
    ]
)
