import Foundation

/// The entry points of libFuzzer. `FUZZ_TARGET` names the target; `FUZZ_SEEDS`, if set, is a folder that the target's
/// seeds are written to before the fuzzer reads its corpus.
enum Fuzzing {
    /// One process fuzzes one target; an unknown name ends it with the list of targets.
    static let target: Target = {
        let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
        do {
            if let target = try Target.all(World()).first(where: { $0.name == name }) { return target }
            fail("FUZZ_TARGET must be one of: \(try Target.all(World()).map(\.name).joined(separator: " "))")
        } catch { fail("cannot create the fuzzing world: \(error)") }
    }()

    static func writeSeeds() {
        guard let path = ProcessInfo.processInfo.environment["FUZZ_SEEDS"] else { return }
        let folder = URL(fileURLWithPath: path)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for (number, seed) in target.seeds.enumerated() {
                try Data(seed).write(to: folder.appendingPathComponent("seed-\(number)"))
            }
        } catch { fail("cannot write the seeds: \(error)") }
    }

    private static func fail(_ text: String) -> Never {
        FileHandle.standardError.write(Data((text + "\n").utf8))
        exit(2)
    }
}

@_cdecl("LLVMFuzzerInitialize")
public func initialize(_ count: UnsafeMutableRawPointer, _ arguments: UnsafeMutableRawPointer) -> CInt {
    Fuzzing.writeSeeds()
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Fuzzing.target.run(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
