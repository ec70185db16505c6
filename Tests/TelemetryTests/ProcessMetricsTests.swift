import Testing

@testable import Telemetry

struct ProcessMetricsTests {
    private static let stat =
        "4711 (a) b ( c) S 1 4711 4711 0 -1 4194304 1500 0 2 0 250 150 0 0 20 0 9 0 123456 734003200 8000 184467440 1 1"

    @Test func parsesStatAfterProcessName() throws {
        let stat = try #require(ProcessStat(Self.stat))
        #expect(stat.cpuTicks == 400)
        #expect(stat.startTicks == 123_456)
        #expect(stat.virtualBytes == 734_003_200)
        #expect(stat.residentPages == 8000)
    }

    @Test(arguments: ["", "4711 (name", "4711 (name) S 1 2 3", "4711 (n) " + String(repeating: "x ", count: 30)])
    func refusesInvalidStat(_ text: String) {
        #expect(ProcessStat(text) == nil)
    }

    @Test func parsesBootTimeAndLimit() {
        #expect(ProcessMetrics.bootTime("cpu 1 2\nbtime 1763700000\nprocesses 3\n") == 1_763_700_000)
        #expect(ProcessMetrics.bootTime("cpu 1 2\n") == nil)
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024      524288     files\n"
        #expect(ProcessMetrics.maximumFiles(limits) == 1024)
        #expect(ProcessMetrics.maximumFiles("Max open files  unlimited  unlimited  files\n") == nil)
    }

    #if os(Linux)
        @Test func describesThisProcess() {
            let values = Dictionary(
                uniqueKeysWithValues: ProcessMetrics.families().map { ($0.name, $0.series[0].value) })
            #expect(
                Set(values.keys) == [
                    "process_cpu_seconds_total", "process_resident_memory_bytes", "process_virtual_memory_bytes",
                    "process_open_fds", "process_max_fds", "process_start_time_seconds",
                ])
            #expect(values.values.allSatisfy { $0 > 0 })
            #expect(
                values["process_resident_memory_bytes", default: 0] < values["process_virtual_memory_bytes", default: 0]
            )
        }
    #endif
}
