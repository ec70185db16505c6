import ConsoleReports
import Foundation
import Testing

@testable import ConsolePages

struct PageTests {
    private static func documents(_ text: String, _ viewer: Viewer) throws -> [String] {
        try pages(text, for: viewer).map { $0.document(for: viewer, rev: 7, now: 1_000_000).markup }
    }

    /// The tags of a document, without their content.
    private static func tags(_ markup: String) -> [Substring] {
        markup.split(separator: "<").compactMap { $0.split(separator: ">", omittingEmptySubsequences: false).first }
    }

    @Test(arguments: [ConsoleRole.operate, .view])
    func escapesTextsOfOthers(role: ConsoleRole) throws {
        let viewer = Viewer(name: hostile, role: role, formToken: "form-token")
        for markup in try Self.documents(hostile, viewer) {
            #expect(!markup.contains("<script>"))
            #expect(!markup.unicodeScalars.contains { "\u{202E}\u{0}\u{7}".unicodeScalars.contains($0) })
            for tag in Self.tags(markup) {
                // Quotes of others never end an attribute, so that none of their words becomes one.
                #expect(!tag.contains(" onload=x") || tag.contains("&quot;&#39; onload=x"), "\(tag.prefix(200))")
            }
        }
    }

    @Test(arguments: ["plain", hostile])
    func containsNothingInline(text: String) throws {
        for markup in try Self.documents(text, operatorViewer) {
            let tags = Self.tags(markup)
            #expect(tags.filter { $0.hasPrefix("script") } == tags.filter { $0.hasPrefix("script src=\"/console.js") })
            for tag in tags {
                #expect(!tag.hasPrefix("style"))
                #expect(!tag.contains(" style="))
                #expect(!tag.contains(#/ on[a-z]+="/#))
                #expect(!tag.contains(#/(href|src|action)="(?!\/|#main)/#), "leaves the host: \(tag.prefix(120))")
            }
        }
    }

    @Test
    func idsAreUnique() throws {
        for markup in try Self.documents("plain", operatorViewer) {
            let ids = markup.matches(of: #/ id="([^"]*)"/#).map { String($0.1) }
            #expect(Set(ids).count == ids.count, "\(ids)")
            #expect(markup.matches(of: #/<h1>/#).count == 1)
        }
    }

    @Test
    func formsCarryTheToken() throws {
        for markup in try Self.documents("plain", operatorViewer) {
            for form in markup.components(separatedBy: "<form").dropFirst() {
                let form = form.components(separatedBy: "</form>")[0]
                guard form.contains("method=\"post\""), !form.contains("action=\"/login") else { continue }
                #expect(form.contains(#"name="token" value="form-token""#), "\(form.prefix(200))")
            }
        }
    }

    @Test
    func viewersGetNoActions() throws {
        for page in try pages("plain", for: visitor) where page.title != "Pause" {
            let markup = HTML(page.parts.map(\.html)).markup
            #expect(!markup.contains("href=\"/actions/"), "\(page.title)")
            #expect(!markup.contains("action=\"/configuration/validate"), "\(page.title)")
        }
        let offered = try pages("plain", for: operatorViewer).map { HTML($0.parts.map(\.html)).markup }
        #expect(offered.contains { $0.contains("href=\"/actions/pause?") })
        #expect(offered.contains { $0.contains("href=\"/actions/accept?") })
    }

    @Test
    func emptySnapshotRenders() {
        let snapshot = ConsoleSnapshot()
        let overview = OverviewPage(snapshot).page(for: visitor)
        #expect(HTML(overview.parts.map(\.html)).markup.contains("No account of the file belongs to this process."))
        let account = AccountPage(snapshot, status: AccountStatus(name: "a"), report: AccountReport())
        #expect(HTML(account.page(for: visitor).parts.map(\.html)).markup.contains("The account is in no chat."))
    }

    @Test
    func contentsAreMarkedAsPrivate() {
        var detail = ChatDetail.sample("secret words")
        let shown = HTML(ChatPage(account: "a", id: "b", detail: detail, now: 0).page(for: visitor).parts.map(\.html))
        #expect(shown.markup.contains("Private content"))
        detail.hasContents = false
        detail.messages[0].content = nil
        let hidden = HTML(ChatPage(account: "a", id: "b", detail: detail, now: 0).page(for: visitor).parts.map(\.html))
        #expect(!hidden.markup.contains("Private content"))
    }

    @Test
    func problemsStandOnTop() throws {
        let problems = ConsoleSnapshot.sample("words").problems
        #expect(problems.first?.level == .error)
        #expect(problems.map(\.level.rawValue) == problems.map(\.level.rawValue).sorted())
        #expect(problems.allSatisfy { !$0.advice.isEmpty })
        #expect(problems.contains { $0.account == "two" && $0.text.contains("words") })
    }

    @Test
    func pathsEncodeNames() {
        #expect(ConsolePath.account("a/../b?c#d é").text == "/accounts/a%2F..%2Fb%3Fc%23d%20%C3%A9")
        #expect(ConsolePath.logs.with(["a": "1&2", "b": nil]).text == "/logs?a=1%262")
    }

    @Test
    func actionsSurviveTheirForms() {
        let actions: [ConsoleAction] = [
            .restart(account: "a"), .stop(account: "a"), .pause(account: "a", bot: "b"),
            .resume(account: "a", bot: "b"),
            .reload, .accept(account: "a", invitation: "c"), .decline(account: "a", invitation: "c"),
        ]
        for action in actions {
            let fields = Dictionary(action.fields.map { ($0.key, $0.value) }) { $1 }
            #expect(ConsoleAction(name: action.name) { fields[$0] ?? nil } == action)
        }
        #expect(ConsoleAction(name: "restart") { _ in nil } == nil)
        #expect(ConsoleAction(name: "erase") { _ in "a" } == nil)
    }

    @Test(arguments: [
        (0, "now"), (4, "now"), (5, "5 s ago"), (59, "59 s ago"), (60, "1 min ago"), (7_200, "2 h ago"),
        (-86_400, "in 1 d"),
    ])
    func timesAreRelative(age: Int64, text: String) {
        #expect(HTML.relative(1_000_000 - age, now: 1_000_000) == text)
    }

    @Test
    func extremeTimesRender() {
        #expect(HTML.relative(.min, now: .max).contains("T"))
        #expect(HTML.time(.max, now: 0).markup.contains("9999"))
    }

    @Test
    func coloursHaveContrast() {
        let palettes = StyleSheet.text.components(separatedBy: "@media (prefers-color-scheme: dark)").map(Self.colours)
        #expect(palettes.count == 2)
        for palette in palettes {
            for name in ["text", "muted", "link", "good", "warn", "bad", "idle"] {
                for ground in ["page", "surface", "raised"] {
                    let contrast = Self.contrast(palette[name], palette[ground])
                    #expect(contrast >= 4.5, "\(name) on \(ground): \(contrast)")
                }
            }
            #expect(Self.contrast(palette["button-text"], palette["button"]) >= 4.5)
        }
    }

    private static func colours(_ text: String) -> [String: Int] {
        Dictionary(
            text.matches(of: #/--([a-z0-9-]+): #([0-9a-f]{6})/#).map { (String($0.1), Int($0.2, radix: 16) ?? 0) }
        ) { first, _ in first }
    }

    /// WCAG 2.2, contrast ratio of two colours.
    private static func contrast(_ one: Int?, _ other: Int?) -> Double {
        guard let one, let other else { return 0 }
        let lights = [one, other].map { colour -> Double in
            let parts = [16, 8, 0].map { shift -> Double in
                let value = Double((colour >> shift) & 0xFF) / 255
                return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
        }.sorted()
        return (lights[1] + 0.05) / (lights[0] + 0.05)
    }
}
