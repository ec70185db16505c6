import LoadReport
import Testing

/// Compares the complete reports of ``SmallRun``.
@Suite struct FixedReportTests {
    private func file(_ format: ReportFormat, _ name: String) throws -> String {
        let files = try format.files(of: SmallRun.result(), base: "small")
        return try #require(files.first { $0.name == name }).contents
    }

    @Test func writesTextTables() throws {
        #expect(
            try file(.text, "small.txt") == #"""
                Load run small & "odd" <run>: FAILED, 2 of 3 thresholds
                2026-11-22T00:00:00Z, 5 s, seed 7

                      threshold  condition  found
                ok    delivery   >= 70%     75 %
                FAIL  join.p95   < 1s       never measured: join never succeeded, 1 failed
                FAIL  send.p95   < 20ms     40 ms

                operation  ok  failed   rate    min   mean    p50    p90    p95    p99  p99.9    max
                join        0       1    0/s      –      –      –      –      –      –      –      –
                send        4       1  0.8/s  10 ms  25 ms  20 ms  40 ms  40 ms  40 ms  40 ms  40 ms

                failed     times  reason
                join           1  lost,\#u{FFFD}never found
                send           1  refused: "a", <b> & 'c' ]]>\#u{FFFD}
                generator      1  odd "\#u{301}
                generator      1  odd ,\#u{301}
                generator      1  odd = "1"

                correctness  ratio  counts
                joins            –  0 of 0 planned
                delivery      75 %  3 of 4 expected
                order        100 %  3 of 3 in order
                duplicates     0 %  0 delivered again
                divergence       –  0 of 0 members compared
                conflicts        –  0 commits lost a race

                generator: 2.5 s of CPU time (0.5 processors busy), peak memory 100 MiB

                stage  0:00 to 0:05  all
                fault  0:02 to 0:03  relay down <ws://a>

                software: pikabot 1, debug build, Swift 6.3
                store: memory
                relays: ws://a,b
                machine: a"b: 2 × cpu\1\#u{FFFD}2, 1 GiB
                system: Linux, kernel 6

                """#)
    }

    @Test func writesLocustTotals() throws {
        #expect(
            try file(.csv, "small_stats.csv")
                == #"""
                Type,Name,Request Count,Failure Count,Median Response Time,Average Response Time,Min Response Time,Max Response Time,Average Content Size,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%,99.99%,100%
                group,join,1,1,0,0,0,0,0,0.2,0.2,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A
                message,send,5,1,20.015,25,10,40,0,1,0.2,20.015,30.015,30.015,40,40,40,40,40,40,40,40
                ,Aggregated,6,2,20.096,25,10,40,0,1.2,0.4,20.096,30.08,30.08,40,40,40,40,40,40,40,40

                """#.asCSV)
    }

    @Test func writesLocustFailures() throws {
        #expect(
            try file(.csv, "small_failures.csv")
                == #"""
                Method,Name,Error,Occurrences,First Seen,Last Seen
                group,join,"lost,
                never found",1,2026-11-22T00:00:02Z,2026-11-22T00:00:02Z
                message,send,"refused: ""a"", <b> & 'c' ]]>\#u{FFFD}",1,2026-11-22T00:00:04Z,2026-11-22T00:00:04Z

                """#.asCSV)
    }

    @Test func writesLocustHistory() throws {
        #expect(
            try file(.csv, "small_stats_history.csv")
                == #"""
                Timestamp,User Count,Type,Name,Requests/s,Failures/s,50%,66%,75%,80%,90%,95%,98%,99%,99.9%,99.99%,100%,Total Request Count,Total Failure Count,Total Median Response Time,Total Average Response Time,Total Min Response Time,Total Max Response Time,Total Average Content Size
                1795305601,0,,Aggregated,0,0,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,N/A,0,0,0,0,0,0,0
                1795305602,3,,Aggregated,1,0,10,10,10,10,10,10,10,10,10,10,10,1,0,10,10,10,10,0
                1795305603,3,,Aggregated,2,1,10.048,20,20,20,20,20,20,20,20,20,20,3,1,10.048,15,10,20,0
                1795305604,2,,Aggregated,1,0,20.096,20.096,30,30,30,30,30,30,30,30,30,4,1,20.096,20,10,30,0
                1795305605,2,,Aggregated,2,1,20.096,30.08,30.08,40,40,40,40,40,40,40,40,6,2,20.096,25,10,40,0

                """#.asCSV)
    }

    @Test func writesLocustExceptions() throws {
        #expect(
            try file(.csv, "small_exceptions.csv")
                == #"""
                Count,Message,Traceback,Nodes
                1,"odd ""\#u{301}",,"a""b"
                1,"odd ,\#u{301}",,"a""b"
                1,"odd = ""1""",,"a""b"

                """#.asCSV)
    }

    @Test func writesEnvironment() throws {
        #expect(
            try file(.csv, "small_environment.csv")
                == #"""
                Name,Value
                seed,7
                software,"pikabot 1, debug build, Swift 6.3"
                store,memory
                relays,"ws://a,b"
                machine,"a""b: 2 × cpu\1
                2, 1 GiB"
                system,"Linux, kernel 6"

                """#.asCSV)
    }

    @Test func writesJUnitTestCases() throws {
        #expect(
            try file(.junit, "small.junit.xml") == #"""
                <?xml version="1.0" encoding="UTF-8"?>
                <testsuites name="small &amp; &quot;odd&quot; &lt;run&gt;" tests="3" failures="2" errors="0" time="5">
                  <testsuite name="small &amp; &quot;odd&quot; &lt;run&gt;" tests="3" failures="2" errors="0" skipped="0" time="5" timestamp="2026-11-22T00:00:00" hostname="a&quot;b">
                    <properties>
                      <property name="seed" value="7"/>
                      <property name="software" value="pikabot 1, debug build, Swift 6.3"/>
                      <property name="store" value="memory"/>
                      <property name="relays" value="ws://a,b"/>
                      <property name="machine" value="a&quot;b: 2 × cpu\1\#u{FFFD}2, 1 GiB"/>
                      <property name="system" value="Linux, kernel 6"/>
                    </properties>
                    <testcase classname="thresholds.delivery" name="delivery &gt;= 70%" time="0"/>
                    <testcase classname="thresholds.join.p95" name="join.p95 &lt; 1s" time="0">
                      <failure type="threshold" message="expected &lt; 1s, found never measured: join never succeeded, 1 failed">join.p95: expected &lt; 1s, found never measured: join never succeeded, 1 failed</failure>
                    </testcase>
                    <testcase classname="thresholds.send.p95" name="send.p95 &lt; 20ms" time="0">
                      <failure type="threshold" message="expected &lt; 20ms, found 40 ms">send.p95: expected &lt; 20ms, found 40 ms</failure>
                    </testcase>
                    <system-out>Load run small &amp; &quot;odd&quot; &lt;run&gt;: FAILED, 2 of 3 thresholds
                2026-11-22T00:00:00Z, 5 s, seed 7

                      threshold  condition  found
                ok    delivery   &gt;= 70%     75 %
                FAIL  join.p95   &lt; 1s       never measured: join never succeeded, 1 failed
                FAIL  send.p95   &lt; 20ms     40 ms

                operation  ok  failed   rate    min   mean    p50    p90    p95    p99  p99.9    max
                join        0       1    0/s      –      –      –      –      –      –      –      –
                send        4       1  0.8/s  10 ms  25 ms  20 ms  40 ms  40 ms  40 ms  40 ms  40 ms

                failed     times  reason
                join           1  lost,\#u{FFFD}never found
                send           1  refused: &quot;a&quot;, &lt;b&gt; &amp; &#39;c&#39; ]]&gt;\#u{FFFD}
                generator      1  odd &quot;\#u{301}
                generator      1  odd ,\#u{301}
                generator      1  odd = &quot;1&quot;

                correctness  ratio  counts
                joins            –  0 of 0 planned
                delivery      75 %  3 of 4 expected
                order        100 %  3 of 3 in order
                duplicates     0 %  0 delivered again
                divergence       –  0 of 0 members compared
                conflicts        –  0 commits lost a race

                generator: 2.5 s of CPU time (0.5 processors busy), peak memory 100 MiB

                stage  0:00 to 0:05  all
                fault  0:02 to 0:03  relay down &lt;ws://a&gt;

                software: pikabot 1, debug build, Swift 6.3
                store: memory
                relays: ws://a,b
                machine: a&quot;b: 2 × cpu\1\#u{FFFD}2, 1 GiB
                system: Linux, kernel 6
                </system-out>
                  </testsuite>
                </testsuites>

                """#)
    }

    @Test func writesMetrics() throws {
        #expect(
            try file(.openmetrics, "small.openmetrics.txt") == #"""
                # HELP load_op_duration_seconds Latency of an operation, from its intended start to its end.
                # TYPE load_op_duration_seconds histogram
                # UNIT load_op_duration_seconds seconds
                load_op_duration_seconds_bucket{op="send",le="0.001"} 0
                load_op_duration_seconds_bucket{op="send",le="0.0025"} 0
                load_op_duration_seconds_bucket{op="send",le="0.005"} 0
                load_op_duration_seconds_bucket{op="send",le="0.01"} 1
                load_op_duration_seconds_bucket{op="send",le="0.025"} 2
                load_op_duration_seconds_bucket{op="send",le="0.05"} 4
                load_op_duration_seconds_bucket{op="send",le="0.1"} 4
                load_op_duration_seconds_bucket{op="send",le="0.25"} 4
                load_op_duration_seconds_bucket{op="send",le="0.5"} 4
                load_op_duration_seconds_bucket{op="send",le="1.0"} 4
                load_op_duration_seconds_bucket{op="send",le="2.5"} 4
                load_op_duration_seconds_bucket{op="send",le="5.0"} 4
                load_op_duration_seconds_bucket{op="send",le="10.0"} 4
                load_op_duration_seconds_bucket{op="send",le="30.0"} 4
                load_op_duration_seconds_bucket{op="send",le="60.0"} 4
                load_op_duration_seconds_bucket{op="send",le="+Inf"} 4
                load_op_duration_seconds_sum{op="send"} 0.1
                load_op_duration_seconds_count{op="send"} 4
                # HELP load_delivery_ratio Share of the expected deliveries that happened.
                # TYPE load_delivery_ratio gauge
                # UNIT load_delivery_ratio ratio
                load_delivery_ratio 0.75
                # HELP load_order_ratio Share of the deliveries that arrived in their sender's order.
                # TYPE load_order_ratio gauge
                # UNIT load_order_ratio ratio
                load_order_ratio 1
                # HELP load_commit_conflicts Commits that lost a race.
                # TYPE load_commit_conflicts counter
                load_commit_conflicts_total 0
                # HELP load_divergence Members whose view differs from their group's.
                # TYPE load_divergence counter
                load_divergence_total 0
                # HELP load_agents Peak number of agents.
                # TYPE load_agents gauge
                load_agents 3
                # HELP load_run_info Environment of the run.
                # TYPE load_run_info gauge
                load_run_info{seed="7",software="pikabot 1",build="debug",store="memory",relays="ws://a,b",processor="cpu\\1\n2",processors="2",kernel="6"} 1
                # EOF

                """#)
    }

}

extension String {
    /// Ends rows as Python's `csv.writer` does; line ends inside quotes stay.
    fileprivate var asCSV: String {
        var (text, isQuoted) = (UnicodeScalarView(), false)
        for scalar in unicodeScalars {
            if scalar == "\"" { isQuoted.toggle() }
            text.append(contentsOf: scalar == "\n" && !isQuoted ? ["\r", scalar] : [scalar])
        }
        return String(text)
    }
}
