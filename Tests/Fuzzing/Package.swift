// swift-tools-version: 6.2
import PackageDescription

// Links only with `--sanitize fuzzer`, which brings `main`; `./run` has all flags.
let package = Package(
    name: "fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "pikabot", path: "../..")],
    targets: [
        .executableTarget(
            name: "fuzz",
            dependencies: ["TLSCodec", "MLS", "Nostr", "Marmot", "PikaCore"].map {
                .product(name: $0, package: "pikabot")
            },
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"), .enableUpcomingFeature("InternalImportsByDefault"),
                .treatAllWarnings(as: .error),
            ],
            // gold, the default, breaks off over the sanitizers' debug information.
            linkerSettings: [.unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux]))])
    ]
)
