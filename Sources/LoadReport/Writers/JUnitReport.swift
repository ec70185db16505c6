/// Writes a result as JUnit XML: one suite with a test case per threshold.
package enum JUnitReport {
    package static func xml(_ result: LoadResult) -> String {
        let failed = result.thresholds.count { !$0.passed }
        let (run, name) = (result.run, escaped(result.run.name))
        let time = Figures.fixed(result.duration, 3)
        let counts = "tests=\"\(result.thresholds.count)\" failures=\"\(failed)\" errors=\"0\""
        let stamp = run.startedAt.text(milliseconds: false).dropLast()
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<testsuites name=\"\(name)\" \(counts) time=\"\(time)\">",
            "  <testsuite name=\"\(name)\" \(counts) skipped=\"0\" time=\"\(time)\" timestamp=\"\(stamp)\" "
                + "hostname=\"\(escaped(run.environment.host.name))\">",
            "    <properties>",
            "      <property name=\"seed\" value=\"\(run.seed)\"/>",
        ]
        lines += result.environmentRows.map {
            "      <property name=\"\(escaped($0.name))\" value=\"\(escaped($0.value))\"/>"
        }
        lines.append("    </properties>")
        lines += result.thresholds.flatMap(testCase)
        lines += [
            "    <system-out>\(Markup.escaped(TextReport.text(result)))</system-out>", "  </testsuite>",
            "</testsuites>",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func testCase(_ outcome: ThresholdOutcome) -> [String] {
        let name = escaped("\(outcome.key) \(outcome.condition)")
        let start = "    <testcase classname=\"thresholds.\(escaped(outcome.key))\" name=\"\(name)\" time=\"0\""
        guard !outcome.passed else { return [start + "/>"] }
        let message = escaped("expected \(outcome.condition), found \(outcome.found)")
        return [
            start + ">",
            "      <failure type=\"threshold\" message=\"\(message)\">\(escaped(outcome.key)): \(message)</failure>",
            "    </testcase>",
        ]
    }

    /// Escapes text for XML 1.0, which excludes control characters and turns line ends in attributes into spaces.
    private static func escaped(_ text: String) -> String { Markup.escaped(SafeText.line(text)) }
}

/// Escapes text for XML and HTML.
enum Markup {
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
