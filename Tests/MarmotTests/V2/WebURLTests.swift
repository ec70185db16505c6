import Nostr
import Testing

@testable import Marmot

/// The results are those of the URL parser in MDK 0.11.0 (url 2.5.8).
struct WebURLTests {
    @Test(arguments: [
        ("https://blossom.example.com/", "https://blossom.example.com/"),
        ("https://blossom.example.com", "https://blossom.example.com/"),
        ("https://Blossom.Example.com/", "https://blossom.example.com/"),
        ("http://blossom.example.com:80/", "http://blossom.example.com/"),
        ("https://blossom.example.com:443/", "https://blossom.example.com/"),
        ("https://blossom.example.com:8443", "https://blossom.example.com:8443/"),
        ("https://blossom.example.com/a/../b", "https://blossom.example.com/b"),
        ("https://blossom.example.com/./a", "https://blossom.example.com/a"),
        ("https://blossom.example.com/a b", "https://blossom.example.com/a%20b"),
        ("https://127.0.0.1/", "https://127.0.0.1/"), ("https://127.1/", "https://127.0.0.1/"),
        ("https://0x7f.0.0.1/", "https://127.0.0.1/"), ("https://0x7f.1/a.png", "https://127.0.0.1/a.png"),
        ("https://[::1]/", "https://[::1]/"), ("https://[0:0:0:0:0:0:0:1]/", "https://[::1]/"),
        ("https://[2001:DB8::1]/a.png", "https://[2001:db8::1]/a.png"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
        ("https://my_host.example.com/", "https://my_host.example.com/"),
        ("https://blossom.example.com/a^b", "https://blossom.example.com/a^b"),
        ("https://blossom.example.com/a|b", "https://blossom.example.com/a|b"),
        ("https://blossom.example.com/[x]", "https://blossom.example.com/[x]"),
        ("https://blossom.example.com/%7e", "https://blossom.example.com/%7e"),
        ("https://blossom.example.com/~", "https://blossom.example.com/~"),
        ("https://blossom.example.com/a`b", "https://blossom.example.com/a%60b"),
        ("https://blossom.example.com/{x}", "https://blossom.example.com/%7Bx%7D"),
        ("https://blossom.example.com/a\\b", "https://blossom.example.com/a/b"),
        ("https://blossom.example.com:0/", "https://blossom.example.com:0/"),
        ("https://blossom.example.com:00443/", "https://blossom.example.com/"),
        ("https://blossom.example.com:/", "https://blossom.example.com/"),
        ("https://blossom.example.com./", "https://blossom.example.com./"),
        ("https://a..example/", "https://a..example/"),
        ("HTTPS://blossom.example.com/", "https://blossom.example.com/"),
        ("https:blossom.example.com", "https://blossom.example.com/"),
        ("https:///blossom.example.com/", "https://blossom.example.com/"),
        (" https://blossom.example.com/ ", "https://blossom.example.com/"),
        ("https://blossom.example.com/b:/..", "https://blossom.example.com/b:/"),
        ("https://blossom.example.com/%2e/x", "https://blossom.example.com/x"),
        ("https://e%41.example/", "https://ea.example/"), ("https://ex%2Eample.com/", "https://ex.ample.com/"),
        ("https://blossom.example.com:65535/", "https://blossom.example.com:65535/"),
        ("https://example.com:8443/x/../y.png?s=1", "https://example.com:8443/y.png?s=1"),
        ("https://example.com/%7Euser/a.png", "https://example.com/%7Euser/a.png"),
        ("https://example.com/a.png?q=%20x", "https://example.com/a.png?q=%20x"),
    ])
    func normalisesLikeMDK(input: String, output: String) {
        #expect(WebURL(input)?.normalized == output)
        #expect(WebURL(output)?.normalized == output)
    }

    /// By the standard; paths that leave the root, and encodings in queries and fragments.
    @Test(arguments: [
        ("https://a.example/..", "https://a.example/"), ("https://a.example/../..", "https://a.example/"),
        ("https://a.example/b/..", "https://a.example/"), ("https://a.example/b/c/..", "https://a.example/b/"),
        ("https://a.example/b/../c/", "https://a.example/c/"), ("https://a.example/b//..", "https://a.example/b/"),
        ("https://a.example/.%2E/b", "https://a.example/b"), ("https://a.example/b/.", "https://a.example/b/"),
        ("https://a.example?q", "https://a.example/?q"), ("https://a.example/?a'b\"c", "https://a.example/?a%27b%22c"),
        ("https://a.example/#a`b c", "https://a.example/#a%60b%20c"),
        ("https://a.example/ü", "https://a.example/%C3%BC"),
        ("ht\ntps://a.ex\tample/", "https://a.example/"), ("https://@a.example/", "https://a.example/"),
        ("https://1.2.3/", "https://1.2.0.3/"), ("https://4294967295/", "https://255.255.255.255/"),
        ("https://[1:2:3:4:5:6:1.2.3.4]/", "https://[1:2:3:4:5:6:102:304]/"),
        ("https://[1:0:0:2:0:0:0:3]/", "https://[1:0:0:2::3]/"), ("https://[::]/", "https://[::]/"),
    ])
    func followsTheStandard(input: String, output: String) {
        #expect(WebURL(input)?.normalized == output)
    }

    @Test(arguments: [
        "", "https", "https:", "https://", "https:///", "ftp://a.example/", "//a.example/", "/a",
        "https://a.example:x/", "https://a.example:65536/", "https://a.example:-1/", "https://[::1", "https://::1/",
        "https://[1:2]/", "https://[1::2::3]/", "https://[12345::]/", "https://[::1]x/", "https://a b/",
        "https://a<b/", "https://a%/", "https://a%00b/", "https://1.2.3.256/", "https://1.2.3.4.5/",
        "https://256.1.1.1/", "https://4294967296/", "https://a.0x/", "https://%ff/", "https://xn--/",
        "https://xn--a/", "https://xn--ascii-/",
    ])
    func refusesMalformedURLs(text: String) {
        #expect(WebURL(text) == nil)
    }

    @Test func credentialsHaveNoNormalForm() {
        for text in ["https://u@a.example/", "https://u:p@a.example/", "https://:p@a.example/"] {
            #expect(WebURL(text)?.hasCredentials == true && WebURL(text)?.normalized == nil)
        }
    }

    @Test func otherSchemesAreAbsoluteToo() {
        for text in ["ipfs://bafy/x", "magnet:?xt=1", "https://a.example/", "a+b-c.1:x"] {
            #expect(WebURL.isAbsolute(text), "\(text)")
        }
        for text in ["", "x", ":x", "1a:x", "a b:x", "https://", "/a"] { #expect(!WebURL.isAbsolute(text), "\(text)") }
    }
}
