package import Appliance

/// Recipes of the simulator, in every language.
package enum SampleRecipes {
    package static let all: [Language: [Recipe]] = [.english: english, .hindi: hindi, .tamil: tamil]

    private static let english1 = Recipe(
        id: "chai", revision: 1, language: .english, title: "Masala chai",
        summary: "Spiced tea with milk.", servings: 2,
        ingredients: [
            Ingredient(name: "Milk", quantity: 200, unit: "ml", allergens: [.milk]),
            Ingredient(name: "Water", quantity: 200, unit: "ml"),
            Ingredient(name: "Black tea", quantity: 2, unit: "tsp"),
            Ingredient(name: "Ginger", quantity: 10, unit: "g"),
            Ingredient(name: "Sugar", quantity: 2, unit: "tsp"),
        ],
        steps: [
            RecipeStep(text: "Boil water and ginger.", seconds: 300),
            RecipeStep(text: "Add tea and sugar.", seconds: 120, needsAttention: true),
            RecipeStep(text: "Add milk and simmer.", seconds: 180, timer: "Tea is ready"),
        ],
        tags: ["hot drink", "vegetarian"], imagePath: "/v1/recipes/chai/image")

    private static let english2 = Recipe(
        id: "dal-tadka", revision: 1, language: .english, title: "Dal tadka",
        summary: "Lentils with tempered spices.", servings: 4,
        ingredients: [
            Ingredient(name: "Lentils", quantity: 250, unit: "g"),
            Ingredient(name: "Water", quantity: 1, unit: "l"),
            Ingredient(name: "Ghee", quantity: 30, unit: "g", allergens: [.milk]),
            Ingredient(name: "Mustard seeds", quantity: 5, unit: "g", allergens: [.mustard]),
            Ingredient(name: "Tomatoes", quantity: 3, unit: ""),
        ],
        steps: [
            RecipeStep(text: "Boil the lentils.", seconds: 900),
            RecipeStep(text: "Add ghee, mustard seeds and tomatoes.", seconds: 300, needsAttention: true),
            RecipeStep(text: "Simmer until thick.", seconds: 600, timer: "Dal is ready"),
        ],
        tags: ["vegetarian", "main course"], imagePath: "/v1/recipes/dal-tadka/image")

    private static let english3 = Recipe(
        id: "peanut-poha", revision: 1, language: .english, title: "Peanut poha",
        summary: "Flattened rice with peanuts.", servings: 2,
        ingredients: [
            Ingredient(name: "Flattened rice", quantity: 200, unit: "g"),
            Ingredient(name: "Peanuts", quantity: 50, unit: "g", allergens: [.peanut]),
            Ingredient(name: "Onion", quantity: 1, unit: ""),
            Ingredient(name: "Mustard seeds", quantity: 3, unit: "g", allergens: [.mustard]),
        ],
        steps: [
            RecipeStep(text: "Roast the peanuts.", seconds: 180),
            RecipeStep(text: "Add onion and mustard seeds.", seconds: 240, needsAttention: true),
            RecipeStep(text: "Add the rice and steam it.", seconds: 240),
        ],
        tags: ["vegetarian", "breakfast"], imagePath: "/v1/recipes/peanut-poha/image")

    private static let english = [english1, english2, english3]

    private static let hindi1 = Recipe(
        id: "chai", revision: 1, language: .hindi, title: "मसाला चाय",
        summary: "दूध वाली मसालेदार चाय।", servings: 2,
        ingredients: [
            Ingredient(name: "दूध", quantity: 200, unit: "ml", allergens: [.milk]),
            Ingredient(name: "पानी", quantity: 200, unit: "ml"),
            Ingredient(name: "चाय पत्ती", quantity: 2, unit: "tsp"),
            Ingredient(name: "अदरक", quantity: 10, unit: "g"),
            Ingredient(name: "चीनी", quantity: 2, unit: "tsp"),
        ],
        steps: [
            RecipeStep(text: "पानी और अदरक उबालें।", seconds: 300),
            RecipeStep(text: "चाय पत्ती और चीनी डालें।", seconds: 120, needsAttention: true),
            RecipeStep(text: "दूध डालकर धीमी आँच पर पकाएँ।", seconds: 180, timer: "चाय तैयार है"),
        ],
        tags: ["hot drink", "vegetarian"], imagePath: "/v1/recipes/chai/image")

    private static let hindi2 = Recipe(
        id: "dal-tadka", revision: 1, language: .hindi, title: "दाल तड़का",
        summary: "मसालों के तड़के वाली दाल।", servings: 4,
        ingredients: [
            Ingredient(name: "दाल", quantity: 250, unit: "g"),
            Ingredient(name: "पानी", quantity: 1, unit: "l"),
            Ingredient(name: "घी", quantity: 30, unit: "g", allergens: [.milk]),
            Ingredient(name: "राई", quantity: 5, unit: "g", allergens: [.mustard]),
            Ingredient(name: "टमाटर", quantity: 3, unit: ""),
        ],
        steps: [
            RecipeStep(text: "दाल उबालें।", seconds: 900),
            RecipeStep(text: "घी, राई और टमाटर डालें।", seconds: 300, needsAttention: true),
            RecipeStep(text: "गाढ़ा होने तक पकाएँ।", seconds: 600, timer: "दाल तैयार है"),
        ],
        tags: ["vegetarian", "main course"], imagePath: "/v1/recipes/dal-tadka/image")

    private static let hindi3 = Recipe(
        id: "peanut-poha", revision: 1, language: .hindi, title: "मूंगफली पोहा",
        summary: "मूंगफली वाला पोहा।", servings: 2,
        ingredients: [
            Ingredient(name: "पोहा", quantity: 200, unit: "g"),
            Ingredient(name: "मूंगफली", quantity: 50, unit: "g", allergens: [.peanut]),
            Ingredient(name: "प्याज़", quantity: 1, unit: ""),
            Ingredient(name: "राई", quantity: 3, unit: "g", allergens: [.mustard]),
        ],
        steps: [
            RecipeStep(text: "मूंगफली भूनें।", seconds: 180),
            RecipeStep(text: "प्याज़ और राई डालें।", seconds: 240, needsAttention: true),
            RecipeStep(text: "पोहा डालकर भाप में पकाएँ।", seconds: 240),
        ],
        tags: ["vegetarian", "breakfast"], imagePath: "/v1/recipes/peanut-poha/image")

    private static let hindi = [hindi1, hindi2, hindi3]

    private static let tamil1 = Recipe(
        id: "chai", revision: 1, language: .tamil, title: "மசாலா தேநீர்",
        summary: "பால் சேர்த்த மசாலா தேநீர்.", servings: 2,
        ingredients: [
            Ingredient(name: "பால்", quantity: 200, unit: "ml", allergens: [.milk]),
            Ingredient(name: "தண்ணீர்", quantity: 200, unit: "ml"),
            Ingredient(name: "தேயிலை", quantity: 2, unit: "tsp"),
            Ingredient(name: "இஞ்சி", quantity: 10, unit: "g"),
            Ingredient(name: "சர்க்கரை", quantity: 2, unit: "tsp"),
        ],
        steps: [
            RecipeStep(text: "தண்ணீரையும் இஞ்சியையும் கொதிக்க வைக்கவும்.", seconds: 300),
            RecipeStep(text: "தேயிலையும் சர்க்கரையும் சேர்க்கவும்.", seconds: 120, needsAttention: true),
            RecipeStep(text: "பால் சேர்த்து மிதமான தீயில் கொதிக்க வைக்கவும்.", seconds: 180, timer: "தேநீர் தயார்"),
        ],
        tags: ["hot drink", "vegetarian"], imagePath: "/v1/recipes/chai/image")

    private static let tamil2 = Recipe(
        id: "dal-tadka", revision: 1, language: .tamil, title: "பருப்பு தாளிப்பு",
        summary: "தாளித்த பருப்பு.", servings: 4,
        ingredients: [
            Ingredient(name: "பருப்பு", quantity: 250, unit: "g"),
            Ingredient(name: "தண்ணீர்", quantity: 1, unit: "l"),
            Ingredient(name: "நெய்", quantity: 30, unit: "g", allergens: [.milk]),
            Ingredient(name: "கடுகு", quantity: 5, unit: "g", allergens: [.mustard]),
            Ingredient(name: "தக்காளி", quantity: 3, unit: ""),
        ],
        steps: [
            RecipeStep(text: "பருப்பை வேக வைக்கவும்.", seconds: 900),
            RecipeStep(text: "நெய், கடுகு, தக்காளி சேர்க்கவும்.", seconds: 300, needsAttention: true),
            RecipeStep(text: "கெட்டியாகும் வரை கொதிக்க வைக்கவும்.", seconds: 600, timer: "பருப்பு தயார்"),
        ],
        tags: ["vegetarian", "main course"], imagePath: "/v1/recipes/dal-tadka/image")

    private static let tamil3 = Recipe(
        id: "peanut-poha", revision: 1, language: .tamil, title: "வேர்க்கடலை அவல்",
        summary: "வேர்க்கடலை சேர்த்த அவல்.", servings: 2,
        ingredients: [
            Ingredient(name: "அவல்", quantity: 200, unit: "g"),
            Ingredient(name: "வேர்க்கடலை", quantity: 50, unit: "g", allergens: [.peanut]),
            Ingredient(name: "வெங்காயம்", quantity: 1, unit: ""),
            Ingredient(name: "கடுகு", quantity: 3, unit: "g", allergens: [.mustard]),
        ],
        steps: [
            RecipeStep(text: "வேர்க்கடலையை வறுக்கவும்.", seconds: 180),
            RecipeStep(text: "வெங்காயமும் கடுகும் சேர்க்கவும்.", seconds: 240, needsAttention: true),
            RecipeStep(text: "அவல் சேர்த்து ஆவியில் வேக வைக்கவும்.", seconds: 240),
        ],
        tags: ["vegetarian", "breakfast"], imagePath: "/v1/recipes/peanut-poha/image")

    private static let tamil = [tamil1, tamil2, tamil3]
}
