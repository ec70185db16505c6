import Foundation
import LoadReport
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// HTML and XML reports of runs with hostile text.
@Suite struct MarkupTests {
    private static func results() throws -> [LoadResult] {
        [
            try SyntheticRun.result(), try HostileRun.result(), try SmallRun.result(), EmptyRun.result(),
            LongRun.result(),
        ]
    }

    /// A manually edited result, with text that the recorder would not write.
    private static func edited() throws -> LoadResult {
        var result = try SyntheticRun.result()
        let text = HostileRun.text
        for index in result.operations.indices {
            result.operations[index].name += text
            result.operations[index].title = text
            result.operations[index].family = text
        }
        for index in result.series.operations.indices { result.series.operations[index].name += text }
        for index in result.funnel.stages.indices { result.funnel.stages[index].name += text }
        result.thresholds = [
            ThresholdOutcome(key: text, condition: text, unit: .count, value: .infinity, passed: false, found: text)
        ]
        return result
    }

    @Test func pageIsWellFormed() throws {
        for result in try Self.results() + [Self.edited()] {
            let page = try XMLOutline(HTMLPage.html(result))
            #expect(page.elements["main"] == 1)
            #expect(page.elements["h1"] == 1)
            #expect(page.elements["script"] == nil)
        }
    }

    @Test func pageLoadsNoResources() throws {
        for result in try Self.results() + [Self.edited()] {
            let page = try XMLOutline(HTMLPage.html(result))
            let asking: Set = ["src", "href", "srcset", "action", "data", "poster", "background", "xlink:href"]
            #expect(page.attributes.isDisjoint(with: asking))
            #expect(!page.attributes.contains { $0.hasPrefix("on") })
            #expect(
                page.elements.keys.allSatisfy { !["link", "img", "iframe", "object", "embed", "base"].contains($0) })
            #expect(!page.styles.contains("url(") && !page.styles.contains("@import"))
        }
    }

    @Test func escapesHostileText() throws {
        let result = try HostileRun.result()
        let page = HTMLPage.html(result)
        #expect(
            page.contains(
                "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;, &#39;a&#39; &amp; b ]]&gt; \u{FFFD}[31mred"))
        for text in [page, JUnitReport.xml(result), TextReport.text(result)] {
            let controls = text.unicodeScalars.filter { $0.value < 0x20 && $0 != "\n" && $0 != "\t" }
            #expect(controls.isEmpty)
            #expect(!text.unicodeScalars.contains("\u{202E}"))
        }
        #expect(!page.contains("<script"))
        #expect(!JUnitReport.xml(result).contains("]]>"))
    }

    @Test func pageShowsKeyFigures() throws {
        let result = try SyntheticRun.result()
        let page = try XMLOutline(HTMLPage.html(result)).text
        for part in [
            "outage and restart storm", "FAILED, 1 of 7 thresholds", "seed 7", "deliver.p99", "5.12 s", "relay down",
            "ws://127.0.0.1:7777", "Latency by percentile", "no key package found: 1", "Intel(R) Xeon(R)",
            "6.1.0-30-amd64", "release build", "rampPerSecond: 20", "connection refused",
        ] { #expect(page.contains(part), "\(part)") }
    }

    @Test func chartsStayInsideTheirArea() throws {
        for result in try Self.results() {
            for number in try XMLOutline(HTMLPage.html(result)).coordinates {
                #expect(number.isFinite && (0...540).contains(number))
            }
        }
    }

    @Test func eachThresholdIsATestCase() throws {
        for result in try Self.results() + [Self.edited()] {
            let report = try XMLOutline(JUnitReport.xml(result))
            #expect(report.elements["testcase"] ?? 0 == result.thresholds.count)
            #expect(report.elements["failure"] ?? 0 == result.thresholds.count { !$0.passed })
            #expect(report.elements["testsuite"] == 1)
        }
    }
}

/// Elements and text of a document; throws if it is not well-formed XML.
private final class XMLOutline: NSObject, XMLParserDelegate {
    struct Malformed: Error { let line: Int }

    private(set) var elements: [String: Int] = [:]
    private(set) var attributes: Set<String> = []
    private(set) var styles = ""
    private(set) var text = ""
    private(set) var coordinates: [Double] = []

    init(_ document: String) throws {
        super.init()
        let parser = XMLParser(data: Data(document.utf8))
        parser.delegate = self
        guard parser.parse() else { throw Malformed(line: parser.lineNumber) }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes found: [String: String]
    ) {
        elements[name, default: 0] += 1
        attributes.formUnion(found.keys)
        styles += found["style"] ?? ""
        for key in ["x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height"] {
            if name != "meta", let value = found[key] { coordinates.append(Double(value) ?? .nan) }
        }
        let steps = found["d"]?.split { !"0123456789.-".contains($0) } ?? []
        coordinates += steps.map { Double($0) ?? .nan }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
}
